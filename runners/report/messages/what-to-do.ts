import { failureCodes, type FailureCode } from '../../../src/contract/failure-code.js';
import { formatMoney, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import { shellWords } from '../../batch/manifest/quote-value.js';
import type { ReachedCap } from '../../batch/ledger/value-caps.js';
import type { RunEnd } from '../../batch/stop/worst-end.js';
import { countOf } from './format-amounts.js';
import type { FailureGroup } from './group-failures.js';
import { priceRest, runAgain, runElsewhere, withoutOption, type RunCommand } from './run-again.js';

/** One thing for a person to do, about rows that failed for one cause. */
export interface ToDo {
  /** `10 rows in doubt`. */
  readonly title: string;
  /** What the service or the runner said. */
  readonly cause: string;
  /** What was charged, and what the command costs. */
  readonly cost: string;
  readonly advice: string;
  /** To be pasted into a shell as it stands; absent where no command helps. */
  readonly command?: string;
}

/**
 * What to do about the rows of each group. The terminal and the report use the same words. A command takes all rows of a
 * code, so it is priced by all of them.
 */
export function whatToDo(
  groups: readonly FailureGroup[],
  run: RunCommand,
  prices: Readonly<Record<string, MicroDollars>>,
): ToDo[] {
  return groups.map((group) => {
    const [noun, advice, way = 'run'] = helpFor(group, run);
    const command = commandOf(way, group.code, run);
    const ofCode = groups.filter(({ code }) => code === group.code);
    return {
      title: countOf(group.count, ...noun),
      cause: messageOf(group),
      cost: costOf(group, ofCode, way, run, prices),
      advice: adviceOf(group, advice, run, command),
      ...(command !== undefined && { command }),
    };
  });
}

/**
 * What to do about rows without an outcome, where no process works on them.
 *
 * @param last how the last start ended; without an exit code where it was cut off
 */
export function toGoOn(count: number, run: RunCommand, { exitCode, caps = [] }: LastEnd): ToDo[] {
  const reached = exitCode === cappedCode ? caps : [];
  // The cap of a day has room again by itself.
  const isPriced = reached.some(({ option }) => option !== 'max-cost-per-day');
  const isBroken = run.isRehearsal && run.options.includes('--faults') && faultyCodes.includes(exitCode ?? 0);
  const again = isBroken ? withoutOption(run, '--faults') : run;
  const command = isPriced ? priceRest(run, reached) : runAgain(again);
  if (count === 0 || command === undefined) return [];
  return [
    {
      title: `${countOf(count, 'row')} to go`,
      cause: '',
      cost: run.isRehearsal ? 'Rehearsal, nothing spent.' : '',
      advice:
        reached.length > 0
          ? cappedAdvice(reached, isPriced)
          : isBroken
            ? 'Continue without the faults:'
            : (beforeGoingOn[exitCode ?? 0] ?? 'Continue:'),
      command,
    },
  ];
}

/** What of the end of a start says how to go on. */
export type LastEnd = Partial<Pick<RunEnd, 'exitCode' | 'caps'>>;

function cappedAdvice(caps: readonly ReachedCap[], isPriced: boolean): string {
  const given = caps.map(({ option, column, usd }) =>
    column === undefined
      ? shellWords(`--${option}`, String(usd))
      : shellWords(`--${option}`, `${column}=${usd}`),
  );
  const more = `more than ${given.join(' and ')}`;
  return isPriced
    ? `See what they cost, then run with ${more}:`
    : `Once the last 24 hours have room again, or with ${more}, continue:`;
}

/** By exit code: the sentence about the end says what it was. */
const beforeGoingOn: Readonly<Record<number, string>> = {
  3: 'When there is room again under what stopped it, continue:',
  4: 'Put right what stopped it, in this command too where it is an option, then continue:',
  69: 'When the service can be reached, at the right address, continue:',
  74: 'Put right what stopped it, then continue:',
};

const cappedCode = 3;
/** Of starts that `--faults` may have ended: the same faults would end the next one. */
const faultyCodes = [4, 5, 69];

/** Word for word when there is one row. */
export function messageOf({ code, message, wording, count }: FailureGroup): string {
  const shown = count > 1 ? wording : (message ?? wording);
  return shown === '' ? failureCodes[code].meaning : shown;
}

/**
 * `again` sends the rows again by their code, `run` is the plain command, `refetch` downloads, `settle` lists what is held,
 * `elsewhere` makes the run in another folder.
 */
type Way = 'again' | 'run' | 'refetch' | 'settle' | 'elsewhere' | 'none';

function commandOf(way: Way, code: FailureCode, given: RunCommand): string | undefined {
  // The emulator draws its faults by a seed: the same rows would meet the same faults.
  const run = given.isRehearsal ? withoutOption(given, '--faults') : given;
  if (way === 'again') return runAgain(run, '--retry', code);
  if (way === 'run') return runAgain(run);
  if (way === 'elsewhere') return runElsewhere(withoutOption(run, '--timeout'));
  return way === 'none' ? undefined : shellWords('millrace', way, run.folder);
}

function costOf(
  group: FailureGroup,
  ofCode: readonly FailureGroup[],
  way: Way,
  { isRehearsal }: RunCommand,
  prices: Readonly<Record<string, MicroDollars>>,
): string {
  if (isRehearsal) return 'Rehearsal, nothing spent.';
  const price = priceOf([group], prices);
  if (way === 'settle')
    return `May have been charged${price === undefined ? '' : `, up to ${formatMoney(price)}`}.`;
  const before = { no: 'Not charged', maybe: 'May have been charged', yes: 'Paid' }[group.paid];
  if (way === 'refetch') return `${before}; downloading is free.`;
  const again = priceOf(ofCode, prices);
  if (way !== 'again' || again === undefined) return `${before}.`;
  const rows = ofCode.reduce((sum, { count }) => sum + count, 0);
  const what =
    rows === 1
      ? 'sending it again'
      : rows === group.count
        ? 'sending them again'
        : `sending all ${rows} ${group.code} rows again`;
  return `${before}; ${what} costs ${formatMoney(again)}.`;
}

/** `undefined` where a row has no price that is known. */
function priceOf(
  groups: readonly FailureGroup[],
  prices: Readonly<Record<string, MicroDollars>>,
): MicroDollars | undefined {
  let sum = 0;
  for (const { count, resolutions } of groups) {
    let rows = 0;
    for (const [resolution, many] of resolutions) {
      rows += many;
      sum += many * (prices[resolution] ?? NaN);
    }
    if (rows !== count) return undefined;
  }
  return Number.isNaN(sum) ? undefined : sum;
}

/** How long the service keeps a picture. */
const pictureLifetimeMs = 7 * 24 * 3_600_000;

function adviceOf(
  { code, firstAt, count }: FailureGroup,
  advice: string,
  { isRehearsal }: RunCommand,
  command: string | undefined,
): string {
  // Rows that arrived one by one have no manifest that a command could name.
  if (command === undefined && advice.endsWith(':')) {
    if (advice.endsWith(elsewhere))
      return advice.replace(elsewhere, 'Feed all rows again, with another --out.');
    return `${advice.replace(/(?:,? (?:then|and) run(?: again)?)?:$/, '')}. Feed the rows again${code === 'invalid-row' ? '' : ` with \`--retry ${code}\``}.`;
  }
  if (code !== 'download' || firstAt === undefined || isRehearsal) return advice;
  const last = new Date(firstAt + pictureLifetimeMs);
  return `The download failed. Download ${count === 1 ? 'it' : 'them'} by ${last.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}:`;
}

type Noun = readonly [one: string, many: string];
type Help = readonly [noun: Noun, advice: string, way?: Way];
const rows = (what: string): Noun => [`row ${what}`, `rows ${what}`];

/** A code says most of it; rows that were settled by hand, and those of a rehearsal, need other words. */
function helpFor({ code, paid }: FailureGroup, { isRehearsal }: RunCommand): Help {
  if (code === 'expired' && paid === 'yes') return givenUp;
  return (isRehearsal ? inRehearsal[code] : undefined) ?? help[code];
}

const givenUp: Help = [
  ['result was given up', 'results were given up'],
  'Settled by hand as paid, and left at that. To have the results after all, buy them again:',
  'again',
];

const elsewhere = 'Rehearse all rows again, elsewhere:';
/** Jobs and pictures end with the emulator, and nothing can be looked up there. A narrow page shows three lines of each. */
const inRehearsal: Partial<Readonly<Record<FailureCode, Help>>> = {
  charged: [
    ['job failed and was charged', 'jobs failed and were charged'],
    'The service reports a cost for these failed jobs. In a real run check your account before you buy them again:',
    'again',
  ],
  deadline: [
    rows('past the deadline'),
    `The jobs ended with the emulator; a real service is asked for them by the next start. ${elsewhere}`,
    'elsewhere',
  ],
  expired: [
    ['job ended with the emulator', 'jobs ended with the emulator'],
    'The emulator ended, and these jobs with it; a real service goes on with them. Send them again:',
    'again',
  ],
  unknown: [
    rows('in doubt'),
    'No answer came. In a real run, look at your account first (`millrace settle`). Here, send them again:',
    'again',
  ],
  download: [
    ['file was not downloaded', 'files were not downloaded'],
    `They ended with the emulator; a real service keeps them for 7 days (\`millrace refetch\`). ${elsewhere}`,
    'elsewhere',
  ],
};

const help: Readonly<Record<FailureCode, Help>> = {
  'invalid-row': [['row is invalid', 'rows are invalid'], 'Fix these rows in the manifest and run again:'],
  rejected: [
    ['row was refused by the service', 'rows were refused by the service'],
    'Fix what these rows send, in the manifest or in the gallery, then run:',
    'again',
  ],
  'job-failed': [
    ['job failed', 'jobs failed'],
    'The job crashed at the service. Try again; if it fails again, change the input:',
    'again',
  ],
  'job-cancelled': [
    ['job was cancelled', 'jobs were cancelled'],
    'These jobs were cancelled at the service. Send them again:',
    'again',
  ],
  'job-timed-out': [
    ['job timed out', 'jobs timed out'],
    'The endpoint stopped these jobs at its own time limit. Raise that limit or make the work smaller, then run:',
    'again',
  ],
  charged: [
    ['job failed and was charged', 'jobs failed and were charged'],
    'The service reports a cost for these failed jobs. Check your account before you buy them again:',
    'again',
  ],
  'route-not-found': [
    rows('without a route'),
    'No route has this path and method. Correct the route or --lb-base-url, then run:',
    'again',
  ],
  'route-failed': [
    ['route call failed', 'route calls failed'],
    'The function behind the route answered with an error. Correct the rows, then run:',
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
    'These jobs may still be running. Run again: they are asked for first, and nothing is bought; --timeout gives them longer:',
  ],
  expired: [
    ['result has expired', 'results have expired'],
    'These jobs ran, and the service has dropped their results. Buy them again:',
    'again',
  ],
  unknown: [
    rows('in doubt'),
    'The connection was lost before the service answered. Look at your account, then decide; this lists them and the ways:',
    'settle',
  ],
  'output-mismatch': [
    ['unexpected output', 'unexpected outputs'],
    'These jobs are paid, and their output is kept. Compare it with the schema.',
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
