import { catchError, defer, EMPTY, type Observable, type SchedulerLike } from 'rxjs';
import type { CallbackResult } from '../../../src/policy/job-webhook.js';
import type { NodeAnswer, NodeCall } from '../../../src/webhooks/answer-calls.js';
import { postNamedIn, tokenIn } from '../../../src/webhooks/callback-tokens.js';
import type { OrphanCallback } from '../../../src/webhooks/called-jobs.js';
import { CalledRows } from '../../batch/callbacks/called-rows.js';
import type { CallbackAddress, CallbackPort } from '../../batch/context/callback-port.js';
import type { Queries } from '../database/transaction.js';
import { storeCallback, readSecrets } from './callbacks-table.js';

/** Minimum time between two reads of the list of runs, when callbacks name a run that this process does not know. */
const readEveryMs = 1_000;

/** The callback port of a worker. It accepts callbacks for all runs of its database, whichever process has their rows. */
export class CalledWorker {
  /** By the name of the run in callback addresses. */
  private readonly served = new Map<string, CalledRows>();
  private readonly others = new Map<string, CalledRows>();
  private readAt = -Infinity;
  private reading: Promise<boolean> | undefined;

  constructor(private readonly parts: { readonly pool: Queries; readonly scheduler: SchedulerLike }) {}

  takeFrom(port: Pick<CallbackPort, 'pass'>): void {
    port.pass((request, response) => void this.take(request, response));
  }

  /** Gives callbacks about these rows to this worker, until the returned function is called. */
  serve(run: string, rows: CalledRows): () => void {
    this.served.set(run, rows);
    return () => {
      if (this.served.get(run) === rows) this.served.delete(run);
    };
  }

  private async take(request: NodeCall, response: NodeAnswer): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?');
    const run = postNamedIn(tokenIn(path))?.run;
    const rows = run === undefined ? undefined : (this.of(run) ?? (await this.find(run)));
    if (rows === 'later') return refuse(response, 503, 'late');
    if (rows === undefined) return refuse(response, 404, 'forged');
    rows.receiver.node(request, response);
  }

  private of(run: string): CalledRows | undefined {
    return this.served.get(run) ?? this.others.get(run);
  }

  /** Calls that come while the list is read wait for that read: the first rows of a run are called back within milliseconds. */
  private async find(run: string): Promise<CalledRows | 'later' | undefined> {
    const now = this.parts.scheduler.now();
    if (this.reading === undefined) {
      if (now - this.readAt < readEveryMs) return 'later';
      this.readAt = now;
      this.reading = this.read();
    }
    return (await this.reading) ? this.of(run) : 'later';
  }

  /** Whether the list of runs could be read. */
  private async read(): Promise<boolean> {
    const known = await readSecrets(this.parts.pool).catch(() => undefined);
    for (const { number, ...secret } of known ?? [])
      this.others.set(secret.run, this.rowsOf(number, { ...secret, url: 'http://localhost' }));
    this.reading = undefined;
    return known !== undefined;
  }

  private rowsOf(number: number, address: CallbackAddress): CalledRows {
    const { pool, scheduler } = this.parts;
    return new CalledRows(address, { scheduler, leaving$: EMPTY, orphan: handOnTo(pool, number) });
  }
}

/** Passes callbacks on to the process that has their row. While the database is away, the service is asked to try again. */
export function handOnTo(pool: Queries, run: number) {
  return (callback: OrphanCallback): Observable<CallbackResult> =>
    defer(() => storeCallback(pool, run, callback)).pipe(catchError(() => EMPTY));
}

function refuse(response: NodeAnswer, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close' });
  response.end(`${text}\n`);
}
