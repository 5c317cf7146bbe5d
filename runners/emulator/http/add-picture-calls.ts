import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { type Answer, Refusal } from './http-answer.js';
import { answering, answeringPlainly } from './answering.js';
import type { Service } from '../service.js';
import { findLocalPicture } from '../../pictures/find-local-picture.js';

/** Where edited pictures, and where local ones, lie below the emulator's address. */
export const picturesPath = '/pictures';
const filesPath = '/files';

/** Downloads, which need no key: edited pictures, and the local ones that edits refer to. */
export function addPictureCalls(app: Hono<{ Bindings: HttpBindings }>, service: Service): void {
  app.get(
    `${picturesPath}/:name`,
    answering(
      service,
      () => ({ operation: 'picture' }),
      (call) => {
        const picture = service.pictures.find(call.req.param('name') ?? '');
        if (!picture) throw new Refusal(404, 'picture not found', 'it never was, or its 7 days are over');
        return { status: 200, headers: { 'Content-Type': picture.contentType }, body: picture };
      },
    ),
  );
  app.get(
    `${filesPath}/*`,
    answeringPlainly((call) => localPicture(service.files, pathIn(call.env.incoming.url ?? ''))),
  );
}

/** Decoded once, unlike the server's own idea of the path. */
function pathIn(url: string): string {
  const path = url.slice(filesPath.length + 1).split('?', 1)[0] ?? '';
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function localPicture(folder: string | undefined, path: string): Answer {
  const found = folder === undefined ? { problem: 'no folder is served' } : findLocalPicture(folder, path);
  if ('problem' in found) throw new Refusal(404, 'file not found', found.problem);
  return { status: 200, headers: { 'Content-Type': found.contentType }, body: found };
}

/** The address at which an emulator with a folder `files` serves the picture at a path relative to it. */
export function localImageUrl(baseUrl: string, path: string): string {
  const segments = path.split(/[/\\]/).filter((segment) => segment !== '' && segment !== '.');
  return `${baseUrl}${filesPath}/${segments.map(encodeURIComponent).join('/')}`;
}
