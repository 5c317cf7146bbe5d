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
import { keepCompleted, keepFailed, purchaseOfRow } from './row-endings.js';
import type { ServedRun } from './served-run.js';
import { sleep } from './sleep.js';

/** Sends a row whose intent is committed, once, and returns the answer of this work item. A pause that has begun meanwhile keeps the POST back. */
export async function sendRow(served: ServedRun, { row, facts, sendInMs }: TakenRow): Promise<Answer> {
  const { item, attempt } = row;
  const { scheduler, onStep } = served.settings;
  await sleep(sendInMs, scheduler);
  await onStep('intended');
  const { pausedMs } = served.gate;
  if (pausedMs > 0) return { is: 'refused', item, attempt, afterMs: pausedMs, tried: false };
  served.gate.grant(facts.id);
  const event = await firstValueFrom(jobOf(served, facts).pipe(filter(isDecisive)));
  if (event.type === 'waiting') return { is: 'refused', item, attempt, afterMs: event.forMs, tried: false };
  await onStep('answered');
  if (event.type === 'accepted') {
    const { endpoint, resolution } = facts;
    const job = { endpoint, resolution, submittedAt: row.submittedAt ?? served.now(), calls: 0 };
    const pollInMs = served.times.next(job, { ...served.pulse, now: served.now() });
    return { is: 'accepted', item, attempt, jobId: event.jobId, pollInMs };
  }
  const { outcome } = event;
  const known = purchaseOfRow(row, facts, 0);
  if (outcome.status === 'completed') {
    const named = outcome.jobId === '' ? known : { ...known, jobId: outcome.jobId };
    const kept = await keepCompleted(served, named, outcome, row.brief.collides);
    return { ...kept, item, attempt };
  }
  if (failureCodes[outcome.code].scope === 'stop') return refused(served, { row, facts }, outcome);
  const mayDouble =
    outcome.code === 'unknown' && served.terms.onUnknown === 'retry' && served.pulse.stop === null;
  const sendAgain = mayDouble && row.doubles < served.terms.retries;
  return { ...keepFailed(served, known, outcome), item, attempt, sendAgain };
}

type Decisive = Extract<JobEvent<unknown>, { type: 'accepted' | 'settled' | 'waiting' }>;

/** An answer, or a wait at the gate while the endpoint pauses: then nothing was sent, and another row gets the slot. */
function isDecisive(event: JobEvent<unknown>): event is Decisive {
  return event.type === 'accepted' || event.type === 'settled' || event.type === 'waiting';
}

function jobOf(
  served: ServedRun,
  { id, request, endpoint, mode, resolution }: RowFacts,
): Observable<JobEvent<unknown>> {
  const call = { key: id, ...(resolution !== undefined && { variant: resolution }) };
  if (request.kind === 'route') {
    const { routes } = served;
    if (routes === undefined)
      throw new MillraceError('usage', 'routes need their host: {lb_base_url} is missing');
    const { method, route } = request;
    return method === 'GET' ? routes.get(route, call) : routes.post(route, request.body ?? {}, call);
  }
  const queue = served.queue(endpoint);
  return mode === 'sync' ? queue.runSync(request.input, call) : queue.run(request.input, call);
}

/** Provably not accepted. The row is sent again while other requests get through; when none does, the run stops. */
async function refused(
  served: ServedRun,
  { row, facts }: Pick<TakenRow, 'row' | 'facts'>,
  { code, message, retryAfterMs }: Failed,
): Promise<Answer> {
  const { item, attempt, refusals } = row;
  const again = { is: 'refused', item, attempt, tried: true } as const;
  switch (code) {
    case 'unauthorized':
      await served.stop(stopCauses.keyRefused(message));
      return { ...again, afterMs: 0 };
    case 'insecure':
      await served.stop(stopCauses.insecure(message));
      return { ...again, afterMs: 0 };
    case 'endpoint-not-found':
      await blockEndpoint(served.database, served.run, facts.endpoint, message);
      return { is: 'left', item, attempt };
    default: {
      const afterMs = retryDelayMs(
        { why: 'rate-limited', retryAfterMs },
        refusals + 1,
        served.settings.random,
      );
      const isUsedUp = refusals >= served.terms.retries;
      if (isUsedUp && !answeredLately(served)) await served.stop(stopCauses.unreachable(message));
      return { ...again, afterMs };
    }
  }
}

/** Whether some worker got a good answer lately, while this row used its tries up. */
function answeredLately({ pulse }: ServedRun): boolean {
  return pulse.answeredMsAgo < 30_000;
}
