import { type Clock, sleep } from '../clock.js';

const maxTries = 3;
const pauseMs = 10_000;
const timeoutMs = 10_000;

/** POSTs the ended job to the URL it named, up to three times, ten seconds apart, until one answers 2xx. Never rejects. */
export async function sendWebhook(
  url: string,
  body: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; attempt <= maxTries && !signal.aborted; attempt += 1) {
    if (await post(url, body, signal)) return;
    if (attempt < maxTries) await sleep(clock, pauseMs, signal).catch(() => undefined);
  }
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
