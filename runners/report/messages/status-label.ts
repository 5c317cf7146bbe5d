import type { FailureCode } from '../../../src/contract/failure-code.js';

/** How a row ended, in the words of the page; lower case, to stand in a sentence. */
const labels: Record<'completed' | FailureCode, string> = {
  completed: 'completed',
  'invalid-row': 'invalid',
  rejected: 'refused',
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
  unknown: 'held',
  'output-mismatch': 'unexpected output',
  download: 'not downloaded',
  refused: 'service busy',
  unreachable: 'not reached',
  unauthorized: 'key refused',
  'endpoint-not-found': 'no such endpoint',
  insecure: 'not trusted',
  'over-budget': 'over the cap',
};

export function statusLabel(status: 'completed' | FailureCode): string {
  return labels[status];
}

/** `job failed` → `Job failed`. */
export function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
