import type { EndStatus } from '../../batch/row/row-status.js';

/** How a row ended, in the words of the page; in lower case, for use in a sentence. */
const labels: Record<EndStatus, string> = {
  completed: 'completed',
  'invalid-row': 'invalid',
  rejected: 'refused by the service',
  'job-failed': 'job failed',
  'job-cancelled': 'job cancelled',
  'job-timed-out': 'job timed out',
  charged: 'failed and paid',
  'route-not-found': 'without a route',
  'route-failed': 'route call failed',
  transport: 'not reached',
  'malformed-reply': 'unreadable reply',
  deadline: 'past the deadline',
  expired: 'expired',
  unknown: 'in doubt',
  'output-mismatch': 'unexpected output',
  download: 'not downloaded',
  refused: 'service busy',
  unreachable: 'not reached',
  unauthorized: 'key refused',
  'endpoint-not-found': 'without an endpoint',
  insecure: 'not trusted',
  'over-budget': 'over the cap',
};

export function statusLabel(status: EndStatus): string {
  return labels[status];
}

/** The plural, if it is another word. */
const labelsOfMany: Partial<Record<EndStatus, string>> = {
  'job-failed': 'jobs failed',
  'job-cancelled': 'jobs cancelled',
  'job-timed-out': 'jobs timed out',
  'route-failed': 'route calls failed',
  'malformed-reply': 'unreadable replies',
  'output-mismatch': 'unexpected outputs',
};

/** After a number: `2 jobs failed`. */
export function countedLabel(status: EndStatus, count: number): string {
  return (count === 1 ? undefined : labelsOfMany[status]) ?? labels[status];
}

/** `job failed` → `Job failed`. */
export function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The state that decides a row's colour. */
export type Tone = 'completed' | 'failed' | 'paid' | 'held';

export function toneOf(status: EndStatus | undefined): Tone {
  if (status === undefined || status === 'completed') return 'completed';
  return status === 'unknown' ? 'held' : status === 'download' ? 'paid' : 'failed';
}

/** In a legend. */
export const toneNames: Readonly<Record<Tone, string>> = {
  completed: 'completed',
  failed: 'failed',
  paid: 'not downloaded',
  held: 'in doubt',
};

/** Why a start ended, by its exit code. README.md and the help of the command line explain the codes. */
export const endings: Readonly<Record<number, string>> = {
  1: 'some rows failed',
  2: 'nothing was sent',
  3: 'a cap was reached, or a price was not agreed to',
  4: 'no row could succeed',
  5: 'too many rows failed',
  6: 'rows are in doubt',
  69: 'the service could not be reached',
  70: 'a fault of millrace',
  74: 'the disk, the journal, too many open files, or a file that changed',
  75: 'another process held the run',
  129: 'interrupted',
  130: 'interrupted',
  143: 'interrupted',
};
