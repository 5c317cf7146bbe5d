import type { FailureCode } from '../../../src/contract/failure-code.js';
import type { FailureGroup } from './group-failures.js';
import type { RunCommand } from './run-again.js';

/**
 * `again` sends the rows again by their code, `run` is the plain command, `refetch` downloads, `settle` lists held rows,
 * `elsewhere` runs everything in another folder.
 */
export type Way = 'again' | 'run' | 'refetch' | 'settle' | 'elsewhere' | 'none';

type Noun = readonly [one: string, many: string];
/** Advice fits one row and many. With a colon at its end it is followed by a command: the plain `run` unless a way is named. */
type Help = readonly [noun: Noun, advice: string, way?: Way];
const rows = (what: string): Noun => [`row ${what}`, `rows ${what}`];

/** The code decides the advice, except for rows that were settled by hand and rows of a rehearsal. */
export function helpFor({ code, paid }: FailureGroup, { isRehearsal }: RunCommand): Help {
  if (code === 'expired' && paid === 'yes') return givenUp;
  return (isRehearsal ? inRehearsal[code] : undefined) ?? help[code];
}

const givenUp: Help = [
  ['result was given up', 'results were given up'],
  'Settled by hand as paid, and left at that. To have the result after all, buy again:',
  'again',
];

export const elsewhere = 'Rehearse all rows again, elsewhere:';
/**
 * A rehearsal's jobs and pictures end with the emulator, and nothing can be looked up there. A narrow page shows
 * three lines of each advice.
 */
const inRehearsal: Partial<Readonly<Record<FailureCode, Help>>> = {
  charged: [
    ['job failed and was charged', 'jobs failed and were charged'],
    'The service reports a cost although the work failed. In a real run check your account before you buy again:',
    'again',
  ],
  deadline: [
    rows('past the deadline'),
    `The emulator ended, and its jobs with it; a real service is asked by the next start. ${elsewhere}`,
    'elsewhere',
  ],
  expired: [
    ['job ended with the emulator', 'jobs ended with the emulator'],
    'The emulator ended, and its jobs with it; a real service goes on with them. Send again:',
    'again',
  ],
  unknown: [
    rows('in doubt'),
    'In a real run, look at your account first (`millrace settle`). Here, send again:',
    'again',
  ],
  download: [
    ['file was not downloaded', 'files were not downloaded'],
    `The emulator ended, and its files with it; a real service keeps them for 7 days (\`millrace refetch\`). ${elsewhere}`,
    'elsewhere',
  ],
};

const help: Readonly<Record<FailureCode, Help>> = {
  'invalid-row': [['row is invalid', 'rows are invalid'], 'Fix the manifest and run again:'],
  rejected: [
    ['row was refused by the service', 'rows were refused by the service'],
    'Fix what is sent, in the manifest or in the gallery, then run:',
    'again',
  ],
  'job-failed': [
    ['job failed', 'jobs failed'],
    'The job crashed at the service. Try again; if it fails again, change the input:',
    'again',
  ],
  'job-cancelled': [
    ['job was cancelled', 'jobs were cancelled'],
    'Cancelled at the service. Send again:',
    'again',
  ],
  'job-timed-out': [
    ['job timed out', 'jobs timed out'],
    'The endpoint stopped the work at its own time limit. Raise that limit or make the work smaller, then run:',
    'again',
  ],
  charged: [
    ['job failed and was charged', 'jobs failed and were charged'],
    'The service reports a cost although the work failed. Check your account before you buy again:',
    'again',
  ],
  'route-not-found': [
    rows('without a route'),
    'No route has this path and method. Correct the route or --lb-base-url, then run:',
    'again',
  ],
  'route-failed': [
    ['route call failed', 'route calls failed'],
    'The function behind the route answered with an error. Correct what is sent, then run:',
    'again',
  ],
  transport: [
    ['route call did not get through', 'route calls did not get through'],
    'The route could not be reached. When it can, run:',
    'again',
  ],
  'malformed-reply': [
    ['unreadable reply', 'unreadable replies'],
    'The route answered with something unreadable: run.log has it. Then run:',
    'again',
  ],
  deadline: [
    rows('past the deadline'),
    'The work may still be going on. Run again: the service is asked first, and nothing is bought; a higher --timeout waits longer:',
  ],
  expired: [
    ['result has expired', 'results have expired'],
    'The work was done, and the service has dropped the result. Buy again:',
    'again',
  ],
  unknown: [rows('in doubt'), 'Look at your account, then decide; this lists the ways:', 'settle'],
  'output-mismatch': [
    ['unexpected output', 'unexpected outputs'],
    'Paid, and the output is kept. Compare it with the schema.',
    'none',
  ],
  download: [
    ['file is still to be downloaded', 'files are still to be downloaded'],
    'The download failed. Download them within 7 days:',
    'refetch',
  ],
  refused: [rows('not taken'), 'The service was too busy. Run again later:'],
  unreachable: [rows('not sent'), 'The service could not be reached. Run again later:'],
  unauthorized: [rows('not sent'), 'The API key was refused. Set MILLRACE_API_KEY to a valid one, then run:'],
  'endpoint-not-found': [
    rows('without an endpoint'),
    'The service has no such endpoint. Correct --endpoint or the endpoint column, then run:',
  ],
  insecure: [
    rows('not sent'),
    'The connection could not be trusted, so nothing was sent. Check --base-url, then run:',
  ],
  'over-budget': [
    rows('over the cap'),
    'There was no room left under the cost cap. Run again with a higher --max-cost:',
  ],
};
