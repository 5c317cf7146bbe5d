import { parseMilliseconds } from '../settings/parse-latency.js';
import { type Clock, sleep } from '../clock.js';
import { type Job, jobFault, jobReplyText } from './service-job.js';

const maxTries = 3;
const pauseMs = 10_000;
const timeoutMs = 10_000;

/**
 * POSTs the ended job to its webhook URL, up to three times, ten seconds apart, until one answer is 2xx. Faults of
 * the job may change that. Never rejects.
 *
 * @param called runs after the first try
 */
export async function sendWebhook(
  job: Job,
  { clock, signal, called }: { clock: Clock; signal: AbortSignal; called: () => void },
): Promise<void> {
  const { webhook: url } = job;
  if (url === undefined || jobFault(job, 'callback-never')) return;
  const body = jobReplyText(job);
  const late = jobFault(job, 'callback-late');
  if (late) await sleep(clock, parseMilliseconds(late.value ?? '') ?? 0, signal).catch(() => undefined);
  if (jobFault(job, 'callback-forged')) await post(forged(url), body, signal);
  if (jobFault(job, 'callback-wrong-id')) await post(url, withOtherId(body), signal);
  for (let attempt = 1; attempt <= maxTries && !signal.aborted; attempt += 1) {
    const isTaken = await post(url, body, signal);
    called();
    if (isTaken) break;
    if (attempt < maxTries) await sleep(clock, pauseMs, signal).catch(() => undefined);
  }
  if (jobFault(job, 'callback-twice')) await post(url, body, signal);
}

/** The URL with another last character, as in a forged call. */
function forged(url: string): string {
  return `${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`;
}

function withOtherId(body: string): string {
  return JSON.stringify({ ...(JSON.parse(body) as object), id: 'another-job-u1' });
}

async function post(url: string, body: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
