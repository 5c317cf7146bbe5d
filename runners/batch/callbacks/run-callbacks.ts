import { randomBytes, randomUUID } from 'node:crypto';
import { catchError, concatMap, defer, EMPTY, of, type Observable } from 'rxjs';
import * as z from 'zod';
import { ownerOf } from '../../../src/policy/job-ids.js';
import type { CallbackResult, JobWebhook } from '../../../src/policy/job-webhook.js';
import type { PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import type { WebhookCall } from '../../../src/webhooks/called-jobs.js';
import type { WebhookReceiver } from '../../../src/webhooks/create-webhook-receiver.js';
import type { CallbackParts, ListenForCallbacks, RunCallbacks } from '../context/called-back.js';
import {
  jobIdIn,
  type CallbackAddress,
  type CallbackCounts,
  type JobOfWaitingRow,
  type HandOn,
  type HeldPost,
  type NamedJob,
  type JobOfPost,
  type CallbackSecret,
} from '../context/callback-port.js';
import type { RowJobIds } from '../context/run-job-ids.js';
import type { RowRecords } from '../journal/journal.js';
import type { RowInFlight } from '../row/row-in-flight.js';
import { isEnd } from '../row/row-status.js';
import { isCalledBack, type TaskOf } from '../row/task.js';
import { CalledRows } from './called-rows.js';
import { NamedJobs, isToBeSentAgain } from './named-jobs.js';
import { openCallbackPort } from './open-callback-port.js';
import type { Disk } from '../disk/disk.js';
import { readFile } from '../disk/read-file.js';
import { replaceFile } from '../disk/replace-file.js';

/** Opens the port for the callbacks of a run, before anything is sent. */
export const listenForCallbacks: ListenForCallbacks = async ({ url, host, port, open, handOn }) => {
  const opened = await (open ?? openCallbackPort)({ host, port });
  return {
    async begin(parts) {
      const { disk, out } = parts.options;
      const address = { ...(await callbackSecret(disk, out)), url: url ?? opened.url };
      const callbacks = new CallbacksOfRun(address, parts, handOn);
      opened.pass(callbacks.receiver.node);
      return callbacks;
    },
    close: () => opened.close(),
  };
};

/** The callbacks of a run, about rows in flight and held rows. */
class CallbacksOfRun extends NamedJobs implements RunCallbacks {
  private readonly calls: CallbackCounts = { taken: 0, refused: 0 };
  isUsed = false;
  /** Rows that this start has ended as unknown. */
  private readonly held = new Map<string, HeldPost>();
  /** Rows of earlier starts that this start has begun to work on. */
  private readonly begun = new Set<string>();
  /** By row: the job that the last warning was about. */
  private readonly doubles = new Map<string, string>();
  private readonly rows: CalledRows;
  private ended: ReadonlyMap<string, RowRecords> | undefined;
  private jobIds: Pick<RowJobIds, 'claim'> | undefined;

  constructor(
    readonly address: CallbackAddress,
    private readonly parts: CallbackParts,
    private readonly handOn?: HandOn,
  ) {
    super();
    const { options, stops } = parts;
    this.rows = new CalledRows(address, {
      scheduler: options.scheduler,
      leaving$: stops.stopping$,
      orphan: handOn ?? (({ body, ...post }) => this.orphanOf(post, jobIdIn(body))),
      unanswered: ({ id, progress: { attempts: attempt, facts } }) =>
        this.hold(id, { attempt, endpoint: facts.endpoint }),
    });
    this.receiver.calls$.subscribe((call) => this.note(call));
  }

  get counts(): CallbackCounts | undefined {
    const { handOn, calls } = this;
    return handOn !== undefined && calls.taken + calls.refused === 0 ? undefined : calls;
  }

  get receiver(): WebhookReceiver {
    return this.rows.receiver;
  }

  poll(schedule: PollSchedule): PollSchedule {
    return this.receiver.poll(schedule);
  }

  useJobIds(jobIds: Pick<RowJobIds, 'claim'>): void {
    this.jobIds = jobIds;
  }

  begin({ what, row, attempts }: TaskOf<'send' | 'poll'>): void {
    this.isUsed ||= isCalledBack(row);
    this.held.delete(row.id);
    if (what === 'poll' || attempts > 0) this.begun.add(row.id);
  }

  row(row: RowInFlight): JobWebhook {
    this.begin(row.task);
    return this.rows.row(row);
  }

  endWork(rows: ReadonlyMap<string, RowRecords>): void {
    this.begun.clear();
    this.ended = rows;
  }

  hold(id: string, post: HeldPost): void {
    this.held.set(id, post);
    this.keepOnly(id, post);
  }

  /** If the journal cannot be read, for instance because the run has just closed it, the service should try again. */
  orphan(post: JobOfPost): Observable<CallbackResult> {
    return this.meaningOf(post).pipe(catchError(() => EMPTY));
  }

  private meaningOf({ row: id, attempt, jobId }: JobOfPost): Observable<CallbackResult> {
    const sent = this.isWaitingFor(id, attempt) ? this.sent(id) : undefined;
    if (sent !== undefined) return this.claim(id, { attempt, endpoint: sent.intent.endpoint }, jobId, sent);
    const held = this.held.get(id);
    if (held !== undefined) return held.attempt === attempt ? this.claim(id, held, jobId) : of('foreign');
    if (this.begun.has(id) && !this.isWaiting(id)) return EMPTY;
    return defer(() => Promise.resolve(this.ended?.get(id) ?? this.parts.journal.find(id))).pipe(
      concatMap((row): Observable<CallbackResult> => {
        const post = { attempt, endpoint: row?.intent?.endpoint ?? '' };
        if (isToBeSentAgain(row, attempt)) return this.claim(id, post, jobId, row);
        const meaning = meaningOf(row, { attempt, jobId }, this.parts.options.onUnknown);
        if (meaning === 'held') return this.claim(id, post, jobId);
        if (meaning === 'foreign' && attempt === row?.attempts) return this.doubled(id, jobId);
        return meaning === undefined ? EMPTY : of(meaning);
      }),
    );
  }

  private orphanOf(post: Omit<JobOfPost, 'jobId'>, jobId: string | undefined): Observable<CallbackResult> {
    return jobId === undefined ? of('unreadable') : this.orphan({ ...post, jobId });
  }

  /**
   * Keeps the job for the row. It is written to the journal when the row is begun, or at the end of this start; until then the
   * answer asks the service to try again.
   */
  private claim(
    id: string,
    { attempt, endpoint }: HeldPost,
    jobId: string,
    again?: JobOfWaitingRow['again'],
  ): Observable<CallbackResult> {
    const { parts, jobIds } = this;
    const known = this.named.get(id);
    const isInWork = this.isWaiting(id) || this.begun.has(id);
    if (known !== undefined) return known.jobId === jobId ? EMPTY : this.doubled(id, jobId);
    // Claimed synchronously if possible, because the row may be about to be sent.
    return defer(() => ownerOf(jobIds?.claim({ endpoint, jobId, key: id }))).pipe(
      concatMap((owner) => {
        if (owner !== undefined) return this.doubled(id, jobId);
        // The row has been sent meanwhile.
        const isGone = isInWork && !this.isWaitingFor(id, attempt);
        if (again !== undefined && isGone) return this.doubled(id, jobId);
        const message =
          again === undefined
            ? `The service called back about row "${id}", which is held as unknown: it was accepted, and its job is polled.`
            : `The service called back about row "${id}", which was to be sent again: it was accepted. Its job is polled instead.`;
        parts.events.next({ type: 'warning', code: 'held', message });
        this.name(id, { attempt, jobId, ...(again && { again }) });
        return EMPTY;
      }),
    );
  }

  /** Warns once about each job. */
  private doubled(row = '', jobId = ''): Observable<CallbackResult> {
    const known = this.doubles.get(row);
    if (known !== jobId) {
      this.doubles.set(row, jobId);
      const message = `The service names job ${JSON.stringify(jobId)} for a request of row "${row}", but the row has another job, or another row has this one: it may have been paid twice, or two rows have each other's answers. Look at the account, and at what the row got.`;
      this.parts.events.next({ type: 'warning', code: 'double', message });
    }
    return of('foreign');
  }

  /** Handles a refused request that has created a job all the same: the job is polled if the row has not been sent again yet. */
  private contradicted(id = '', jobId = ''): void {
    const sent = this.sent(id);
    if (sent === undefined) return void this.doubled(id, jobId);
    const post = { attempt: sent.attempts, endpoint: sent.intent.endpoint };
    this.claim(id, post, jobId, sent).subscribe({ error: () => undefined });
  }

  private note({ result, status, row, attempt, jobId }: WebhookCall): void {
    const { log } = this.parts;
    if (result === 'settled' || result === 'noted') this.calls.taken += 1;
    else if (result !== 'late' && result !== 'double') this.calls.refused += 1;
    const isFine = result === 'settled' || result === 'noted';
    log.write(isFine ? 'debug' : 'warn', { id: row, attempt, result, status }, 'called back');
    if (result === 'double') this.contradicted(row, jobId);
  }
}

/**
 * What a callback means for a row that nobody works on, according to its records. `held`: its POST has no answer, and the
 * callback names its job. `undefined` if this can only be decided once the row is worked on again.
 */
export function meaningOf(
  row: RowRecords | undefined,
  { attempt, jobId }: NamedJob,
  onUnknown: 'hold' | 'retry',
): CallbackResult | 'held' | undefined {
  if (row?.intent === undefined) return undefined;
  const { status, attempts, outcome } = row;
  if (attempt !== attempts) return 'foreign';
  // A request that was not answered when the last start ended is held by this one, or sent again.
  if (status === 'unknown' || (status === 'sent' && onUnknown === 'hold')) return 'held';
  if (!isEnd(status) && status !== 'accepted') return undefined;
  if ((outcome?.purchase?.jobId ?? row.jobId) !== jobId) return 'foreign';
  return status === 'accepted' ? 'noted' : 'settled';
}

const secretSchema = z.object({ version: z.literal(1), run: z.string().min(1), secret: z.string().min(32) });
/** A longer file, in bytes, was not written by millrace. */
const longestBytes = 4_096;
/** File mode: only the owner can read the file. */
const ownersAlone = 0o600;

/**
 * The secret of a run, created at its first start with callbacks and kept in its folder. If the file is damaged, a new
 * secret is made: callbacks to earlier URLs are then refused, and polls find the results instead.
 */
async function callbackSecret(disk: Disk, out: string): Promise<CallbackSecret> {
  const path = `${out}/.webhook.json`;
  const known = await readSecret(disk, path);
  if (known !== undefined) return known;
  const made = { run: randomUUID(), secret: randomBytes(32).toString('base64url') };
  await replaceFile(disk, path, `${JSON.stringify({ version: 1, ...made })}\n`, ownersAlone);
  return made;
}

async function readSecret(disk: Disk, path: string): Promise<CallbackSecret | undefined> {
  const found = await disk.stat(path);
  if (found?.kind !== 'file' || found.size > longestBytes) return undefined;
  try {
    return secretSchema.parse(JSON.parse((await readFile(disk, path, found.size)).toString()));
  } catch {
    return undefined;
  }
}
