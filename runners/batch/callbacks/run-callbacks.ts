import { createHmac } from 'node:crypto';
import { concatMap, defer, EMPTY, filter, map, merge, of, take, type Observable } from 'rxjs';
import { isJobReply } from '../../../src/contract/service-replies.js';
import type { CallbackResult, JobWebhook } from '../../../src/policy/job-webhook.js';
import type { PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import {
  createWebhookReceiver,
  type OrphanCallback,
  type WebhookCall,
  type WebhookReceiver,
} from '../../../src/webhooks/create-webhook-receiver.js';
import type { CallbackCounts, CallbackParts, NamedJob, RunCallbacks } from '../context/called-back.js';
import type { RowJobIds } from '../context/run-job-ids.js';
import type { RowInFlight } from '../row/row-in-flight.js';
import { isEnd } from '../row/row-status.js';
import type { CallbackSecret } from './callback-secret.js';

/** A POST without an answer. */
interface HeldPost {
  readonly attempt: number;
  readonly endpoint: string;
}

/** The callbacks of a run's rows. A row is named by its id, a POST of it by its number over all starts. */
export class CalledRows implements RunCallbacks {
  readonly counts: CallbackCounts = { taken: 0, refused: 0 };
  readonly named = new Map<string, NamedJob>();
  /** Rows that this start has ended as unknown. */
  private readonly held = new Map<string, HeldPost>();
  readonly receiver: WebhookReceiver;
  isUsed = false;
  private jobIds: RowJobIds | undefined;

  constructor(
    { run, secret }: CallbackSecret,
    url: string,
    private readonly parts: CallbackParts,
  ) {
    const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64url');
    const { scheduler } = parts.options;
    const orphan = (callback: OrphanCallback) => this.orphan(callback);
    this.receiver = createWebhookReceiver({ secret, url, run, hmac, scheduler, orphan });
    this.receiver.calls$.subscribe((call) => this.note(call));
  }

  poll(schedule: PollSchedule): PollSchedule {
    return this.receiver.poll(schedule);
  }

  useJobIds(jobIds: RowJobIds): void {
    this.jobIds = jobIds;
  }

  /** A callback is answered, and a replay of it known, once the row's records are durable: later than the end of its job. */
  row(row: RowInFlight): JobWebhook {
    this.isUsed = true;
    const { attempts } = row.progress;
    const webhook = this.receiver.row(
      row.id,
      row.task.what === 'poll' ? Math.max(attempts - 1, 0) : attempts,
    );
    const durable$ = row.progress$.pipe(
      filter(({ status }) => status === 'replied' || isEnd(status)),
      take(1),
    );
    return {
      address: (attempt) => webhook.address(attempt),
      listen: (taking) =>
        webhook.listen((callback) =>
          taking(callback).pipe(
            concatMap((result) => (result === 'settled' ? durable$.pipe(map(() => result)) : of(result))),
          ),
        ),
      ended: (outcome) => {
        const { facts, attempts: attempt } = row.progress;
        if (outcome.status === 'failed' && outcome.code === 'unknown')
          this.held.set(row.id, { attempt, endpoint: facts.endpoint });
        durable$.subscribe(() => webhook.ended(outcome));
      },
      giveUp$: merge(
        webhook.giveUp$,
        this.parts.stops.leaving$.pipe(filter((leaving) => leaving !== undefined)),
      ),
      contradicted: (jobId) => webhook.contradicted(jobId),
    };
  }

  /** About a row that is not in work: one that is held as unknown has a job, which the next start asks for. */
  private orphan({ row: id, attempt, body }: OrphanCallback): Observable<CallbackResult> {
    const jobId = jobIdOf(body);
    if (jobId === undefined) return of('unreadable');
    const held = this.held.get(id);
    if (held !== undefined) return held.attempt === attempt ? this.name(id, held, jobId) : of('foreign');
    return defer(() => this.parts.journal.find(id)).pipe(
      concatMap((row): Observable<CallbackResult> => {
        if (row?.intent === undefined) return EMPTY;
        const { status, attempts, outcome } = row;
        if (attempt !== attempts) return of('foreign');
        // A request that was out when the last start ended is held by this one, or sent again.
        const isHeld = status === 'unknown' || (status === 'sent' && this.parts.options.onUnknown === 'hold');
        if (isHeld) return this.name(id, { attempt, endpoint: row.intent.endpoint }, jobId);
        if (!isEnd(status) && status !== 'accepted') return EMPTY;
        const known = outcome?.purchase?.jobId ?? row.jobId;
        return of(known !== jobId ? 'foreign' : status === 'accepted' ? 'noted' : 'settled');
      }),
    );
  }

  /** It is noted in the journal at the end of this start: till then the service is answered that it is to try again. */
  private name(id: string, { attempt, endpoint }: HeldPost, jobId: string): Observable<CallbackResult> {
    const { named, parts, jobIds } = this;
    const known = named.get(id);
    if (known !== undefined) return known.jobId === jobId ? EMPTY : of('foreign');
    return defer(() => Promise.resolve(jobIds?.claim({ endpoint, jobId, key: id }))).pipe(
      concatMap((owner) => {
        if (owner !== undefined) return of<CallbackResult>('foreign');
        named.set(id, { attempt, jobId });
        const message = `The service called back about row "${id}", which is held as unknown: it was accepted. The next start asks for its job.`;
        parts.events.next({ type: 'warning', code: 'held', message });
        return EMPTY;
      }),
    );
  }

  private note({ result, status, row, attempt, jobId }: WebhookCall): void {
    const { log, events } = this.parts;
    if (result === 'settled' || result === 'noted') this.counts.taken += 1;
    else if (result !== 'late' && result !== 'double') this.counts.refused += 1;
    const isFine = result === 'settled' || result === 'noted';
    log.write(isFine ? 'debug' : 'warn', { id: row, attempt, result, status }, 'called back');
    if (result !== 'double') return;
    const message = `One request of row "${row}" has two jobs, the second one ${JSON.stringify(jobId)}: it may have been paid twice.`;
    events.next({ type: 'warning', code: 'double', message });
  }
}

function jobIdOf(body: string | undefined): string | undefined {
  try {
    const value: unknown = JSON.parse(body ?? '');
    return isJobReply(value) ? value.id : undefined;
  } catch {
    return undefined;
  }
}
