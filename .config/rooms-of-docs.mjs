// Puts each export of the API reference under the room that it stands in: a folder of src, or of a runner.
import { Comment, CommentTag, Converter, ReflectionKind } from 'typedoc';

const inRoom = /\/(?:src|runners\/[^/]+)\/([^/]+)\//;

/** @param {import('typedoc').Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_, reflection) => {
    if (!reflection.parent?.kindOf([ReflectionKind.Module, ReflectionKind.Project])) return;
    const [, room] = inRoom.exec(reflection.sources?.[0]?.fullFileName ?? '') ?? [];
    if (room === undefined) return;
    reflection.comment ??= new Comment();
    const text = room.charAt(0).toUpperCase() + room.slice(1);
    reflection.comment.blockTags.push(new CommentTag('@category', [{ kind: 'text', text }]));
  });
}
