import type { Pool } from 'pg';
import { catchError, defer, EMPTY, type Observable, type SchedulerLike } from 'rxjs';
import type { CallbackResult } from '../../../src/policy/job-webhook.js';
import type { NodeAnswer, NodeCall } from '../../../src/webhooks/answer-calls.js';
import { postNamedIn, tokenIn } from '../../../src/webhooks/callback-tokens.js';
import type { OrphanCallback } from '../../../src/webhooks/called-jobs.js';
import { CalledRows } from '../../batch/callbacks/called-rows.js';
import type { CallbackAddress, CallbackPort } from '../../batch/context/callback-port.js';
import { handOver, readSecrets } from './handed-callbacks.js';

/** Calls that name an unknown run have the runs read anew this often at most. */
const readEveryMs = 1_000;

interface Parts {
  readonly pool: Pick<Pool, 'query'>;
  readonly scheduler: SchedulerLike;
}

/** The port of a worker: it takes the callbacks of all runs of its database, whichever process has their rows. */
export class CalledWorker {
  /** By the names that runs have in addresses. */
  private readonly served = new Map<string, CalledRows>();
  private readonly others = new Map<string, CalledRows>();
  private readAt = -Infinity;

  constructor(private readonly parts: Parts) {}

  /** Takes the calls that come to this port. */
  takeFrom(port: Pick<CallbackPort, 'pass'>): void {
    port.pass((request, response) => void this.take(request, response));
  }

  /** This worker has rows of the run from now on, until the returned function is called. */
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

  private async find(run: string): Promise<CalledRows | 'later' | undefined> {
    const { pool, scheduler } = this.parts;
    const now = scheduler.now();
    if (now - this.readAt < readEveryMs) return 'later';
    this.readAt = now;
    const known = await readSecrets(pool as Pool).catch(() => undefined);
    if (known === undefined) return 'later';
    for (const { number, ...secret } of known)
      this.others.set(secret.run, this.rowsOf(number, { ...secret, url: 'http://localhost' }));
    return this.of(run);
  }

  private rowsOf(number: number, address: CallbackAddress): CalledRows {
    const { pool, scheduler } = this.parts;
    return new CalledRows(address, { scheduler, leaving$: EMPTY, orphan: handOnTo(pool, number) });
  }
}

/** Hands callbacks on to the process that has their row. Where the database is away the service is to try again. */
export function handOnTo(pool: Pick<Pool, 'query'>, run: number) {
  return (callback: OrphanCallback): Observable<CallbackResult> =>
    defer(() => handOver(pool, run, callback)).pipe(catchError(() => EMPTY));
}

function refuse(response: NodeAnswer, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close' });
  response.end(`${text}\n`);
}
