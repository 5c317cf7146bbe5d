import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { streamSSE } from 'hono/streaming';
import { concatMap, lastValueFrom, Observable, takeUntil } from 'rxjs';
import { limits } from '../messages.js';
import type { PageFiles } from './bundle-page.js';
import type { PictureShelf } from './served-pictures.js';
import { readOrder } from './read-order.js';
import type { Tabs } from './tabs.js';

export interface AppParts {
  readonly files: PageFiles;
  readonly tabs: Tabs;
  readonly shelf: PictureShelf;
  /** The origin of edited pictures. */
  readonly picturesFrom: string;
}

/** The page, its messages, its orders, and the pictures for the service. */
export function createApp({ files, tabs, shelf, picturesFrom }: AppParts): Hono {
  const app = new Hono();
  app.use(async (call, next) => {
    // A name that leads here is no reason to answer: a page elsewhere could have its own point to this machine.
    const host = call.req.header('host')?.replace(/^localhost:/, '127.0.0.1:');
    if (`http://${host ?? ''}` !== shelf.origin) return call.text('This name is not served here.', 421);
    call.header('x-content-type-options', 'nosniff');
    call.header('cross-origin-resource-policy', 'same-origin');
    call.header('referrer-policy', 'no-referrer');
    call.header('cache-control', 'no-store');
    call.header('content-security-policy', policy(picturesFrom));
    return next();
  });
  app.get('/', (call) => call.html(files.html));
  app.get('/studio.js', (call) =>
    call.body(files.script, 200, { 'content-type': 'text/javascript; charset=utf-8' }),
  );
  app.get('/studio.css', (call) =>
    call.body(files.style, 200, { 'content-type': 'text/css; charset=utf-8' }),
  );
  app.get('/pictures/:name', (call) => {
    const picture = shelf.find(call.req.param('name'));
    return picture === undefined
      ? call.notFound()
      : call.body(picture.bytes, 200, { 'content-type': `image/${picture.type}` });
  });
  app.get('/events', (call) => {
    if (tabs.isFull) return call.text('Too many pages are open.', 503);
    return streamSSE(call, async (stream) => {
      const gone = new Observable<void>((subscriber) => stream.onAbort(() => subscriber.next()));
      const written = tabs.open().pipe(
        takeUntil(gone),
        concatMap((message) => stream.writeSSE({ data: JSON.stringify(message) })),
      );
      await lastValueFrom(written, { defaultValue: undefined });
    });
  });
  const tooLarge = bodyLimit({
    maxSize: limits.pictureBytes + 100_000,
    onError: (call) => call.json({ problem: 'The picture is too large.' }, 413),
  });
  app.post('/tabs/:tab/cards', tooLarge, async (call) => {
    const form = await call.req.formData().catch(() => undefined);
    const order = form === undefined ? 'The order cannot be read.' : await readOrder(form);
    if (typeof order === 'string') return call.json({ problem: order }, 400);
    const problem = tabs.order(call.req.param('tab'), order);
    return problem === undefined ? call.body(null, 204) : call.json({ problem }, 409);
  });
  app.delete('/tabs/:tab/cards/:card', (call) => {
    tabs.closeCard(call.req.param('tab'), call.req.param('card'));
    return call.body(null, 204);
  });
  return app;
}

function policy(picturesFrom: string): string {
  return [
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
    `img-src 'self' data: blob: ${picturesFrom}; font-src data:`,
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join('; ');
}
