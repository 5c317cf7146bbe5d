import { Observable, type Subscriber } from 'rxjs';
import type { ClientOptions } from '../../src/endpoints/client-state.js';
import type { WireReply } from '../../src/transport/transport.js';
import { clientOver } from './client-over.js';
import { replied } from './virtual-time.js';

/** A client whose requests stay open until the test answers them; `atOnce` answers some when they are sent. */
export function scriptedClient(
  more: ClientOptions = {},
  atOnce: (path: string) => object | undefined = () => undefined,
) {
  const open: { path: string; reply: Subscriber<WireReply> }[] = [];
  const paths: string[] = [];
  const { client } = clientOver(undefined, {
    transport: (request) =>
      new Observable<WireReply>((reply) => {
        const path = new URL(request.url).pathname;
        paths.push(path);
        const known = atOnce(path);
        if (known === undefined) return void open.push({ path, reply });
        reply.next(replied(200, known));
        reply.complete();
      }),
    ...more,
  });
  return {
    client,
    /** Paths of all requests so far. */
    paths,
    posts: () => paths.filter((path) => /\/run(sync)?$/.test(path)).length,
    /** Answers the oldest open request whose path ends so. */
    answer(end: string, body: object, status = 200) {
      const index = open.findIndex(({ path, reply }) => path.endsWith(end) && !reply.closed);
      const [request] = index < 0 ? [] : open.splice(index, 1);
      if (request === undefined)
        throw new Error(`no request to ${end} is open; there were ${paths.join(', ')}`);
      request.reply.next(replied(status, body));
      request.reply.complete();
    },
  };
}
