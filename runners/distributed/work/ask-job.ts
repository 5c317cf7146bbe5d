import { defaultIfEmpty, filter, firstValueFrom, takeUntil, timer } from 'rxjs';
import { failureCodes } from '../../../src/contract/failure-code.js';
import type { Failed, JobEvent } from '../../../src/contract/outcome.js';
import { whatWasAsked } from '../../../src/operators/requests/outcome-of.js';
import { overdue } from '../../../src/operators/requests/poll-until-terminal.js';
import { backoff } from '../../../src/policy/retry-delay.js';
import { isGone } from '../../../src/policy/may-send-again.js';
import { whyRefused } from '../../batch/stop/stop-causes.js';
import type { Answer } from '../store/answer.js';
import type { WorkData } from '../records/work-queue.js';
import type { RowRecord } from '../records/row-record.js';
import type { DueItem } from '../store/take-due.js';
import { keepCompleted, keepFailed, factsOfBrief, purchaseOfRow } from './row-endings.js';
import { pollLimitMs, type ServedRun } from './served-run.js';
import { sleep } from './sleep.js';

type AcceptedRow = RowRecord & { readonly jobId: string };
type Polled = Extract<JobEvent<unknown>, { type: 'status' | 'settled' | 'waiting' }>;

/** Polls a row's job once, and returns the answer of this work item. */
export async function askJob(served: ServedRun, due: DueItem): Promise<Answer> {
  const { item, row, data } = due;
  if (!isAccepted(row)) return { is: 'stale', kind: 'poll', item };
  const { scheduler, onStep } = served.settings;
  await sleep(due.sendInMs, scheduler);
  served.gate.grant(item);
  const { endpoint } = row.brief;
  const job = served
    .queue(endpoint)
    .attach(row.jobId, { key: item, submittedAt: row.submittedAt ?? served.now() });
  const polled = await firstValueFrom(
    job.pipe(filter(isDecisive), takeUntil(timer(pollLimitMs, scheduler)), defaultIfEmpty(undefined)),
  );
  await onStep('polled');
  const calls = data.calls + job.statusCalls;
  if (polled?.type === 'waiting' && polled.why === 'not-found')
    return missing(served, row, { ...data, calls });
  if (polled?.type === 'waiting')
    return job.statusCalls === 0
      ? later(served, row, { ...data, calls }, polled.forMs)
      : afterRefusal(served, row, { ...data, calls, failures: data.failures + 1 }, polled.forMs);
  if (polled?.type === 'settled') return settled(served, row, polled.outcome, calls);
  const answer =
    polled === undefined ? { ...data, calls, failures: data.failures + 1 } : { calls, failures: 0 };
  return later(served, row, answer);
}

function isDecisive(event: JobEvent<unknown>): event is Polled {
  return event.type === 'status' || event.type === 'settled' || event.type === 'waiting';
}

/** A 404: the job is polled again, until the rule of a local run takes it for gone. */
function missing(served: ServedRun, row: AcceptedRow, data: WorkData): Answer {
  const { item, attempt, brief, submittedAt, takes } = row;
  const now = served.now();
  const since = data.missing?.since ?? now;
  const answers = (data.missing?.answers ?? 0) + 1;
  // The age of a job that was bought elsewhere is not known: it is polled twice, and again at the next start.
  const ageMs = takes ? Infinity : since - (submittedAt ?? since);
  if (!isGone({ ageMs, forMs: now - since, answers }))
    return later(served, row, { ...data, failures: answers, missing: { since, answers } });
  const known = purchaseOfRow(row, factsOfBrief(brief), data.calls);
  const message = `${whatWasAsked(statusRequest(served, row))}: HTTP 404, ${answers} times: ${failureCodes.expired.meaning}`;
  const gone: Failed = {
    status: 'failed',
    code: 'expired',
    paid: 'maybe',
    jobId: row.jobId,
    message,
    httpStatus: 404,
  };
  return { ...keepFailed(served, known, gone), item, attempt };
}

/** The request as messages name it. */
function statusRequest({ terms }: ServedRun, { brief, jobId }: AcceptedRow) {
  const url = `${terms.identity.baseUrl}/v2/${brief.endpoint}/status/${encodeURIComponent(jobId)}`;
  return { method: 'GET', url } as const;
}

function isAccepted(row: RowRecord | undefined): row is AcceptedRow {
  return row?.state === 'accepted' && row.jobId !== null;
}

async function settled(
  served: ServedRun,
  row: AcceptedRow,
  outcome: Extract<JobEvent<unknown>, { type: 'settled' }>['outcome'],
  calls: number,
): Promise<Answer> {
  const { item, attempt, brief } = row;
  const known = purchaseOfRow(row, factsOfBrief(brief), calls);
  const { endpoint, resolution } = brief;
  if (outcome.status === 'completed') {
    const job = { endpoint, resolution, submittedAt: row.submittedAt ?? served.now(), calls };
    served.times.ended(job, outcome, served.now());
    return { ...(await keepCompleted(served, known, outcome, brief.collides)), item, attempt };
  }
  if (failureCodes[outcome.code].scope === 'row')
    return { ...keepFailed(served, known, outcome), item, attempt };
  // The job may have been paid: it stays accepted, and a later start polls it.
  await served.stop({ ...whyRefused(outcome), leaves: ['open', 'accepted'] });
  return { is: 'again', kind: 'poll', item, afterMs: 0, data: { calls, failures: 0 } };
}

/** A refused poll waits longer each time, and at least as long as the service asks for. */
function afterRefusal(served: ServedRun, row: AcceptedRow, data: WorkData, askedMs: number): Answer {
  return later(served, row, data, Math.max(askedMs, backoff(data.failures, served.settings.random)));
}

/** The next poll: when the policy plans it, or after `askedMs`; the last one at the row's deadline, which counts from this start or from the POST, whichever is later. */
function later(served: ServedRun, row: AcceptedRow, data: WorkData, askedMs?: number): Answer {
  const { item, attempt, brief, jobId } = row;
  const { endpoint, resolution } = brief;
  const { timeoutMs } = served.terms;
  const submittedAt = row.submittedAt ?? served.now();
  const leftMs = Math.max(submittedAt, served.pulse.startedAt) + timeoutMs - served.now();
  if (leftMs <= 0) {
    const failed = overdue({ jobId, request: statusRequest(served, row) }, { deadlineMs: timeoutMs });
    return {
      ...keepFailed(served, purchaseOfRow(row, factsOfBrief(brief), data.calls), failed),
      item,
      attempt,
    };
  }
  const job = { endpoint, resolution, submittedAt, calls: data.calls };
  const nextMs = (): number =>
    data.failures > 0
      ? backoff(data.failures, served.settings.random)
      : served.times.next(job, { ...served.pulse, now: served.now() });
  const plannedMs = askedMs ?? nextMs();
  return { is: 'again', kind: 'poll', item, afterMs: Math.min(plannedMs, leftMs), data };
}
