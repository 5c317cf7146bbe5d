import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, serveHttp, type LoopbackServer } from './loopback-server.js';

/** A queue endpoint that counts, under the control of a test: jobs end after `polls` status requests. */
export interface QueueServer extends LoopbackServer {
  /** Paths of the POSTs to /run and /runsync. */
  readonly posts: string[];
  readonly polls: string[];
  readonly cancels: string[];
  /** Resolves when a request to such a path has arrived; at once when one has. */
  arrived(part: string): Promise<void>;
  /** Holds replies to such paths back until the returned function is called. */
  hold(part: string): () => void;
}

export interface QueueServerOptions {
  /** Status requests that answer IN_PROGRESS before COMPLETED. @defaultValue 1 */
  polls?: number;
  /** Answers a request itself and says so; else the server does. */
  answer?: (request: IncomingMessage, response: ServerResponse, body: string) => boolean;
}

export async function serveQueue({ polls = 1, answer }: QueueServerOptions = {}): Promise<QueueServer> {
  const seen = { posts: [] as string[], polls: [] as string[], cancels: [] as string[] };
  const asked = new Map<string, number>();
  const cancelled = new Set<string>();
  const held: { part: string; released: Promise<void> }[] = [];
  let waiting: { part: string; resolve: () => void }[] = [];
  const paths: string[] = [];

  const note = (url: string) => {
    paths.push(url);
    for (const waiter of waiting) if (url.includes(waiter.part)) waiter.resolve();
    waiting = waiting.filter(({ part }) => !url.includes(part));
  };
  const replyTo = (url: string): object => {
    const id = decodeURIComponent(url.split('/').at(-1)!);
    if (/\/run(sync)?$/.test(url)) {
      seen.posts.push(url);
      return { id: `job-${seen.posts.length}`, status: 'IN_QUEUE' };
    }
    if (url.includes('/cancel/')) {
      seen.cancels.push(id);
      cancelled.add(id);
      return { id, status: 'CANCELLED' };
    }
    seen.polls.push(id);
    const count = (asked.get(id) ?? 0) + 1;
    asked.set(id, count);
    if (cancelled.has(id)) return { id, status: 'CANCELLED' };
    return count <= polls ? { id, status: 'IN_PROGRESS' } : { id, status: 'COMPLETED', output: { of: id } };
  };

  const server = await serveHttp((request, response) => {
    void (async () => {
      const url = request.url!;
      const body = await bodyOf(request).catch(() => '');
      note(url);
      for (const { part, released } of held) if (url.includes(part)) await released;
      if (answer?.(request, response, body) === true) return;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(replyTo(url)));
    })();
  });
  return Object.assign(server, seen, {
    arrived: (part: string) =>
      new Promise<void>((resolve) => {
        if (paths.some((path) => path.includes(part))) resolve();
        else waiting.push({ part, resolve });
      }),
    hold: (part: string) => {
      let release = (): void => undefined;
      held.push({ part, released: new Promise((resolve) => (release = resolve)) });
      return release;
    },
  });
}
