import { setTimeout as pause } from 'node:timers/promises';
import { rawReply, serveRaw, type RawRequest } from './raw-service.js';

/** A queue service on bare sockets that echoes the row of each job, and keeps a bill of its own. */
export interface StrangeService extends AsyncDisposable {
  readonly baseUrl: string;
  readonly key: string;
  /** How often a worker ran each row. */
  readonly executions: ReadonlyMap<string, number>;
}

export interface StrangeSettings {
  /** Each reply is sent once more, so many ms later. */
  readonly againAfterMs?: number;
  /** Every second job gets the id of the one before. */
  readonly sameIds?: boolean;
}

export async function startStrangeService(settings: StrangeSettings): Promise<StrangeService> {
  const executions = new Map<string, number>();
  const rows = new Map<string, string>();
  let jobs = 0;

  function execute(body: string): string {
    const { input } = JSON.parse(body) as { input: { row: string } };
    executions.set(input.row, (executions.get(input.row) ?? 0) + 1);
    const number = jobs++;
    const id = `job-${settings.sameIds === true ? number - (number % 2) : number}`;
    // The service itself knows the first row of an id.
    if (!rows.has(id)) rows.set(id, input.row);
    return id;
  }

  const ended = (id: string) => JSON.stringify({ id, status: 'COMPLETED', output: { row: rows.get(id) } });

  function answerTo({ path, body }: RawRequest): string {
    if (path.endsWith('/runsync')) return ended(execute(body));
    if (path.endsWith('/run')) return JSON.stringify({ id: execute(body), status: 'IN_QUEUE' });
    return ended(path.slice(path.lastIndexOf('/') + 1));
  }

  const server = await serveRaw((request, socket) => {
    const reply = rawReply(answerTo(request));
    socket.write(reply);
    const { againAfterMs } = settings;
    if (againAfterMs !== undefined) void pause(againAfterMs).then(() => socket.write(reply));
  });
  return {
    baseUrl: server.url,
    key: 'the-key-of-a-strange-service',
    executions,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
