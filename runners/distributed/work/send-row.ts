import { submittedJob } from '../../batch/purchase/job-of.js';
import { retriesPurchase } from '../../batch/row/decide-row.js';
import { whyRefused } from '../../batch/stop/stop-causes.js';
import { filter, firstValueFrom } from 'rxjs';
import { failureCodes } from '../../../src/contract/failure-code.js';
import type { Failed, JobEvent } from '../../../src/contract/outcome.js';
import { retryDelayMs } from '../../../src/policy/retry-delay.js';
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
  const event = await firstValueFrom(
    submittedJob({ queues: (endpoint) => served.queue(endpoint), routes: served.routes }, facts).pipe(
      filter(isDecisive),
    ),
  );
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
  const mayRetry = served.pulse.stop === null;
  const sendAgain = mayRetry && retriesPurchase(outcome, served.terms, row.doubles);
  return { ...keepFailed(served, known, outcome), item, attempt, sendAgain };
}

type Decisive = Extract<JobEvent<unknown>, { type: 'accepted' | 'settled' | 'waiting' }>;

/** An answer, or a wait at the gate while the endpoint pauses: then nothing was sent, and another row gets the slot. */
function isDecisive(event: JobEvent<unknown>): event is Decisive {
  return event.type === 'accepted' || event.type === 'settled' || event.type === 'waiting';
}

/** Provably not accepted. The row is sent again while other requests get through; when none does, the run stops. */
async function refused(
  served: ServedRun,
  { row, facts }: Pick<TakenRow, 'row' | 'facts'>,
  failed: Failed,
): Promise<Answer> {
  const { item, attempt, refusals } = row;
  const { code, message, retryAfterMs } = failed;
  const again = { is: 'refused', item, attempt, tried: true } as const;
  if (code === 'endpoint-not-found') {
    await blockEndpoint(served.database, served.run, facts.endpoint, message);
    return { is: 'left', item, attempt };
  }
  if (code === 'unauthorized' || code === 'insecure') {
    await served.stop(whyRefused(failed));
    return { ...again, afterMs: 0 };
  }
  const { random } = served.settings;
  const afterMs = retryDelayMs({ why: 'rate-limited', retryAfterMs }, refusals + 1, random);
  const isUsedUp = refusals >= served.terms.retries;
  if (isUsedUp && !answeredLately(served)) await served.stop(whyRefused(failed));
  return { ...again, afterMs };
}

/** Whether some worker got a good answer lately, while this row used its tries up. */
function answeredLately({ pulse }: ServedRun): boolean {
  return pulse.answeredMsAgo < 30_000;
}
