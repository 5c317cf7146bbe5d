import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { type Answer, Refusal } from './http-answer.js';
import { answering, answeringPlainly } from './answering.js';
import type { StoredPicture } from '../picture-store.js';
import type { Service } from '../service.js';
import { findLocalPicture } from '../../pictures/find-local-picture.js';

/** The paths of edited pictures and of local ones below the emulator's address. */
export const picturesPath = '/pictures';
export const filesPath = '/files';

/** Downloads, which need no key: edited pictures, and local references. */
export function addPictureCalls(app: Hono<{ Bindings: HttpBindings }>, service: Service): void {
  app.get(
    `${picturesPath}/:name`,
    answering(
      service,
      () => ({ operation: 'picture' }),
      (call) => {
        const name = call.req.param('name') ?? '';
        const picture = service.pictures.find(name);
        if (!picture) throw new Refusal(404, 'picture not found', 'it never was, or its 7 days are over');
        return partAnswer(picture, `"${name}"`, {
          range: call.req.header('range'),
          ifRange: call.req.header('if-range'),
        });
      },
    ),
  );
  app.get(
    `${filesPath}/*`,
    answeringPlainly((call) => localPicture(service.files, pathIn(call.env.incoming.url ?? ''))),
  );
}

/** The file, or the rest of it when the request has a range of this version. (RFC 9110, 14) */
function partAnswer(
  { path, bytes, contentType }: StoredPicture,
  etag: string,
  { range = '', ifRange = etag }: { range: string | undefined; ifRange: string | undefined },
): Answer {
  const headers = { 'Content-Type': contentType, ETag: etag, 'Accept-Ranges': 'bytes' };
  const from = /^bytes=(\d+)-$/.exec(range)?.[1];
  if (from === undefined || ifRange !== etag) return { status: 200, headers, body: { path, bytes } };
  const start = Number(from);
  if (start >= bytes)
    throw new Refusal(416, 'range not satisfiable', `there are ${bytes} bytes`, {
      'Content-Range': `bytes */${bytes}`,
    });
  const part = { 'Content-Range': `bytes ${start}-${bytes - 1}/${bytes}` };
  return { status: 206, headers: { ...headers, ...part }, body: { path, bytes: bytes - start, start } };
}

/** Decoded exactly once, unlike the server's own path. */
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
