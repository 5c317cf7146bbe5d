import { filter, firstValueFrom, type Observable } from 'rxjs';
import { failureCodes } from '../../../src/contract/failure-code.js';
import type { Failed, JobEvent } from '../../../src/contract/outcome.js';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import { retryDelayMs } from '../../../src/policy/retry-delay.js';
import { stopCauses } from '../../batch/stop/stop-causes.js';
import type { RowFacts } from '../../batch/row/task.js';
import type { Answer } from '../store/answer.js';
import { blockEndpoint } from '../records/run-record.js';
import type { TakenRow } from '../store/take-submits.js';
import { keepCompleted, keepFailed, rowOf } from './row-endings.js';
import type { RunDesk } from './served-run.js';
import { sleep } from './sleep.js';

/** Sends a row whose intent is committed, once, and says what came of it. A pause that has begun meanwhile keeps it from leaving. */
export async function sendRow(desk: RunDesk, { row, facts, sendInMs }: TakenRow): Promise<Answer> {
  const { piece, attempt } = row;
  const { scheduler, onStep } = desk.parts;
  await sleep(sendInMs, scheduler);
  await onStep('intended');
  const { pausedMs } = desk.gate;
  if (pausedMs > 0) return { is: 'refused', piece, attempt, afterMs: pausedMs, tried: false };
  desk.gate.grant(facts.id);
  const event = await firstValueFrom(jobOf(desk, facts).pipe(filter(isDecisive)));
  if (event.type === 'waiting') return { is: 'refused', piece, attempt, afterMs: event.forMs, tried: false };
  await onStep('answered');
  if (event.type === 'accepted') {
    const { endpoint, resolution } = facts;
    const job = { endpoint, resolution, submittedAt: row.submittedAt ?? desk.now(), calls: 0 };
    const pollInMs = desk.times.next(job, { ...desk.pulse, now: desk.now() });
    return { is: 'accepted', piece, attempt, jobId: event.jobId, pollInMs };
  }
  const { outcome } = event;
  const known = rowOf(row, facts, 0);
  if (outcome.status === 'completed') {
    if (outcome.jobId !== '') known.jobId = outcome.jobId;
    const kept = await keepCompleted(desk, known, outcome, row.brief.collides);
    return { ...kept, piece, attempt };
  }
  if (failureCodes[outcome.code].scope === 'stop') return refused(desk, { row, facts }, outcome);
  const mayDouble =
    outcome.code === 'unknown' && desk.terms.onUnknown === 'retry' && desk.pulse.stop === null;
  const sendAgain = mayDouble && row.doubles < desk.terms.retries;
  return { ...keepFailed(desk, known, outcome), piece, attempt, sendAgain };
}

type Decisive = Extract<JobEvent<unknown>, { type: 'accepted' | 'settled' | 'waiting' }>;

/** An answer; or a wait at the gate, as the endpoint pauses: nothing was sent, and the slot is another row's. */
function isDecisive(event: JobEvent<unknown>): event is Decisive {
  return event.type === 'accepted' || event.type === 'settled' || event.type === 'waiting';
}

function jobOf(
  desk: RunDesk,
  { id, request, endpoint, mode, resolution }: RowFacts,
): Observable<JobEvent<unknown>> {
  const call = { key: id, ...(resolution !== undefined && { variant: resolution }) };
  if (request.kind === 'route') {
    const { routes } = desk;
    if (routes === undefined)
      throw new MillraceError('usage', 'routes need their host: {lb_base_url} is missing');
    const { method, route } = request;
    return method === 'GET' ? routes.get(route, call) : routes.post(route, request.body ?? {}, call);
  }
  const queue = desk.queue(endpoint);
  return mode === 'sync' ? queue.runSync(request.input, call) : queue.run(request.input, call);
}

/** Provably not accepted. While others get through the row is tried again; when nobody does the run stops. */
async function refused(
  desk: RunDesk,
  { row, facts }: Pick<TakenRow, 'row' | 'facts'>,
  { code, message, retryAfterMs }: Failed,
): Promise<Answer> {
  const { piece, attempt, refusals } = row;
  const again = { is: 'refused', piece, attempt, tried: true } as const;
  switch (code) {
    case 'unauthorized':
      await desk.stop(stopCauses.keyRefused(message));
      return { ...again, afterMs: 0 };
    case 'insecure':
      await desk.stop(stopCauses.insecure(message));
      return { ...again, afterMs: 0 };
    case 'endpoint-not-found':
      await blockEndpoint(desk.database, desk.run, facts.endpoint, message);
      return { is: 'left', piece, attempt };
    default: {
      const afterMs = retryDelayMs({ why: 'rate-limited', retryAfterMs }, refusals + 1, desk.parts.random);
      const isUsedUp = refusals >= desk.terms.retries;
      if (isUsedUp && !heardLately(desk)) await desk.stop(stopCauses.unreachable(message));
      return { ...again, afterMs };
    }
  }
}

/** Whether anybody got a good answer while the tries of a row were used up. */
function heardLately({ pulse }: RunDesk): boolean {
  return pulse.heardMsAgo < 30_000;
}
