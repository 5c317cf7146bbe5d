import type { EndStatus } from '../../batch/row/row-status.js';

/** How a row ended, in the words of the page; lower case, to stand in a sentence. */
const labels: Record<EndStatus, string> = {
  completed: 'completed',
  'invalid-row': 'invalid',
  rejected: 'refused by the service',
  'job-failed': 'job failed',
  'job-cancelled': 'job cancelled',
  'job-timed-out': 'job timed out',
  charged: 'failed and paid',
  'route-not-found': 'no such route',
  'route-failed': 'route failed',
  transport: 'not reached',
  'malformed-reply': 'unreadable answer',
  deadline: 'past the deadline',
  expired: 'expired',
  unknown: 'in doubt',
  'output-mismatch': 'unexpected output',
  download: 'to be downloaded',
  refused: 'service busy',
  unreachable: 'not reached',
  unauthorized: 'key refused',
  'endpoint-not-found': 'no such endpoint',
  insecure: 'not trusted',
  'over-budget': 'over the cap',
};

export function statusLabel(status: EndStatus): string {
  return labels[status];
}

/** `job failed` → `Job failed`. */
export function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** How a row stands: what it is coloured by. */
export type Tone = 'completed' | 'failed' | 'paid' | 'held';

export function toneOf(status: EndStatus | undefined): Tone {
  if (status === undefined || status === 'completed') return 'completed';
  return status === 'unknown' ? 'held' : status === 'download' ? 'paid' : 'failed';
}

/** In a legend. */
export const toneNames: Readonly<Record<Tone, string>> = {
  completed: 'completed',
  failed: 'failed',
  paid: 'to be downloaded',
  held: 'in doubt',
};
