import { defaultIfEmpty, filter, firstValueFrom, takeUntil, timer } from 'rxjs';
import { failureCodes } from '../../../src/contract/failure-code.js';
import type { Failed, JobEvent } from '../../../src/contract/outcome.js';
import { whatWasAsked } from '../../../src/operators/asking/outcome-of.js';
import { overdue } from '../../../src/operators/purchase/poll-to-deadline.js';
import { backoff } from '../../../src/policy/backoff.js';
import { isGone } from '../../../src/policy/when-missing.js';
import { stopCauses } from '../../batch/stop/stop-causes.js';
import type { Answer } from '../store/answer.js';
import type { PieceData } from '../records/work-queue.js';
import type { RowRecord } from '../records/row-record.js';
import type { DuePiece } from '../store/take-due.js';
import { keepCompleted, keepFailed, factsOf, rowOf } from './row-endings.js';
import { pollLimitMs, type RunDesk } from './served-run.js';
import { sleep } from './sleep.js';

type AcceptedRow = RowRecord & { readonly jobId: string };
type Polled = Extract<JobEvent<unknown>, { type: 'status' | 'settled' | 'waiting' }>;

/** Asks once for a row's job, and says what came of it. */
export async function askJob(desk: RunDesk, due: DuePiece): Promise<Answer> {
  const { piece, row, data } = due;
  if (!isAccepted(row)) return { is: 'stale', kind: 'poll', piece };
  const { scheduler, onStep } = desk.parts;
  await sleep(due.sendInMs, scheduler);
  desk.gate.grant(piece);
  const { endpoint } = row.brief;
  const job = desk
    .queue(endpoint)
    .attach(row.jobId, { key: piece, submittedAt: row.submittedAt ?? desk.now() });
  const polled = await firstValueFrom(
    job.pipe(filter(isDecisive), takeUntil(timer(pollLimitMs, scheduler)), defaultIfEmpty(undefined)),
  );
  await onStep('polled');
  const calls = data.calls + job.statusCalls;
  if (polled?.type === 'waiting' && polled.why === 'not-found') return missing(desk, row, { ...data, calls });
  if (polled?.type === 'waiting')
    return job.statusCalls === 0
      ? later(desk, row, { ...data, calls }, polled.forMs)
      : afterRefusal(desk, row, { ...data, calls, failures: data.failures + 1 }, polled.forMs);
  if (polled?.type === 'settled') return settled(desk, row, polled.outcome, calls);
  const answer =
    polled === undefined ? { ...data, calls, failures: data.failures + 1 } : { calls, failures: 0 };
  return later(desk, row, answer);
}

function isDecisive(event: JobEvent<unknown>): event is Polled {
  return event.type === 'status' || event.type === 'settled' || event.type === 'waiting';
}

/** A 404: others ask again later, until the rule of a local run believes it. */
function missing(desk: RunDesk, row: AcceptedRow, data: PieceData): Answer {
  const { piece, attempt, brief, submittedAt, takes } = row;
  const now = desk.now();
  const since = data.missing?.since ?? now;
  const answers = (data.missing?.answers ?? 0) + 1;
  // How old a job is that was bought elsewhere is not known: it is asked for twice, and again at the next start.
  const ageMs = takes ? Infinity : since - (submittedAt ?? since);
  if (!isGone({ ageMs, forMs: now - since, answers }))
    return later(desk, row, { ...data, failures: answers, missing: { since, answers } });
  const known = rowOf(row, factsOf(brief), data.calls);
  const message = `${whatWasAsked(statusRequest(desk, row))}: HTTP 404, ${answers} times: ${failureCodes.expired.meaning}`;
  const gone: Failed = {
    status: 'failed',
    code: 'expired',
    paid: 'maybe',
    jobId: row.jobId,
    message,
    httpStatus: 404,
  };
  return { ...keepFailed(desk, known, gone), piece, attempt };
}

/** For messages. */
function statusRequest({ terms }: RunDesk, { brief, jobId }: AcceptedRow) {
  const url = `${terms.identity.baseUrl}/v2/${brief.endpoint}/status/${encodeURIComponent(jobId)}`;
  return { method: 'GET', url } as const;
}

function isAccepted(row: RowRecord | undefined): row is AcceptedRow {
  return row?.state === 'accepted' && row.jobId !== null;
}

async function settled(
  desk: RunDesk,
  row: AcceptedRow,
  outcome: Extract<JobEvent<unknown>, { type: 'settled' }>['outcome'],
  calls: number,
): Promise<Answer> {
  const { piece, attempt, brief } = row;
  const known = rowOf(row, factsOf(brief), calls);
  const { endpoint, resolution } = brief;
  if (outcome.status === 'completed') {
    const job = { endpoint, resolution, submittedAt: row.submittedAt ?? desk.now(), calls };
    desk.times.ended(job, outcome, desk.now());
    return { ...(await keepCompleted(desk, known, outcome, brief.collides)), piece, attempt };
  }
  if (failureCodes[outcome.code].scope === 'row')
    return { ...keepFailed(desk, known, outcome), piece, attempt };
  // The job may have been paid: it stays accepted, and a later start asks for it.
  await desk.stop(whyStop(outcome));
  return { is: 'again', kind: 'poll', piece, afterMs: 0, data: { calls, failures: 0 } };
}

function whyStop({ code, message }: Failed) {
  const cause = code === 'unauthorized' ? stopCauses.keyRefused(message) : stopCauses.insecure(message);
  return { ...cause, leaves: ['submits', 'polls'] as const };
}

/** A refused poll waits longer each time, and as long as the service asks. */
function afterRefusal(desk: RunDesk, row: AcceptedRow, data: PieceData, askedMs: number): Answer {
  return later(desk, row, data, Math.max(askedMs, backoff(data.failures, desk.parts.random)));
}

/** Another poll, when the policy says or after `askedMs`; the last one at the row's deadline, counted from this start or its POST. */
function later(desk: RunDesk, row: AcceptedRow, data: PieceData, askedMs?: number): Answer {
  const { piece, attempt, brief, jobId } = row;
  const { endpoint, resolution } = brief;
  const { timeoutMs } = desk.terms;
  const submittedAt = row.submittedAt ?? desk.now();
  const leftMs = Math.max(submittedAt, desk.pulse.startedAt) + timeoutMs - desk.now();
  if (leftMs <= 0) {
    const failed = overdue({ jobId, request: statusRequest(desk, row) }, { deadlineMs: timeoutMs });
    return { ...keepFailed(desk, rowOf(row, factsOf(brief), data.calls), failed), piece, attempt };
  }
  const job = { endpoint, resolution, submittedAt, calls: data.calls };
  const nextMs = (): number =>
    data.failures > 0
      ? backoff(data.failures, desk.parts.random)
      : desk.times.next(job, { ...desk.pulse, now: desk.now() });
  const plannedMs = askedMs ?? nextMs();
  return { is: 'again', kind: 'poll', piece, afterMs: Math.min(plannedMs, leftMs), data };
}
