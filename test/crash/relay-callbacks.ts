import http from 'node:http';
import { bodyOf, freePort, serveHttp } from '../support/loopback-server.js';

/** An address that stays where the process behind it is killed and started anew, and what its calls were answered. */
export interface CallbackRelay extends AsyncDisposable {
  /** For `run`: where the service calls, and where the process listens. */
  readonly options: readonly string[];
  /** Calls by the status of their answer; 502: nobody listened, or it died before it answered. */
  readonly answers: Readonly<Record<number, number>>;
}

/** Passes each call of the service on to the process that listens just now. */
export async function relayCallbacks(): Promise<CallbackRelay> {
  const port = await freePort();
  const answers: Record<number, number> = {};
  const relay = await serveHttp((request, response) => {
    const answer = (status: number) => {
      answers[status] = (answers[status] ?? 0) + 1;
      response.writeHead(status).end();
    };
    void bodyOf(request).then((body) => {
      const { method, url } = request;
      const onward = http.request({ host: '127.0.0.1', port, method, path: url, agent: false }, (reply) => {
        reply.resume();
        answer(reply.statusCode ?? 502);
      });
      onward.on('error', () => answer(502));
      onward.end(body);
    });
  });
  return {
    options: ['--webhook-url', relay.url, '--webhook-listen', `127.0.0.1:${port}`],
    answers,
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  };
}
