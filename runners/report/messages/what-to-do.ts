import { failureCodes, type FailureCode } from '../../../src/contract/failure-code.js';
import { formatMoney, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import { shellWords } from '../../batch/manifest/quote-value.js';
import type { ReachedCap } from '../../batch/ledger/value-caps.js';
import type { RunEnd } from '../../batch/stop/worst-end.js';
import { editPrice, type EditPrices } from './edit-prices.js';
import { elsewhere, helpFor, type Way } from './failure-help.js';
import { countOf } from './format-amounts.js';
import type { FailureGroup } from './group-failures.js';
import {
  forRowsOf,
  forRowsToGo,
  priceRest,
  runAgain,
  runElsewhere,
  withoutFaults,
  withoutOption,
  type RunCommand,
} from './run-again.js';

/** One thing for a person to do, about rows that failed for one cause. */
export interface ToDo {
  /** `10 rows in doubt`. */
  readonly title: string;
  /** The message of the service or the runner. */
  readonly cause: string;
  /** What was charged, and the price of the command. */
  readonly cost: string;
  readonly advice: string;
  /** Can be pasted into a shell as it is; absent if no command helps. */
  readonly command?: string;
}

/**
 * What to do about the rows of each group. The terminal and the report use the same words. A command is for all rows of a
 * manifest with a code, so its price is for all of them.
 *
 * @param toGo rows to go, which a command for their manifest does as well
 */
export function whatToDo(
  groups: readonly FailureGroup[],
  run: RunCommand,
  prices: EditPrices,
  toGo = 0,
): ToDo[] {
  return groups.map((group) => {
    const [noun, advice, way = 'run'] = helpFor(group, run);
    const ofManifest = forRowsOf(run, group.manifest);
    const command = commandOf(way, group.code, ofManifest);
    const ofCode = groups.filter(({ code, manifest }) => code === group.code && manifest === group.manifest);
    const doesMore =
      command !== undefined &&
      (way === 'again' || way === 'run') &&
      ofManifest.manifest === forRowsToGo(run).manifest;
    return {
      title: countOf(group.count, ...noun),
      cause: messageOf(group),
      cost: `${costOf(group, ofCode, way, run, prices)}${doesMore && !run.isRehearsal ? alsoDone(toGo) : ''}`,
      advice: adviceOf(group, advice, run, command),
      ...(command !== undefined && { command }),
    };
  });
}

/**
 * What to do about rows without an outcome when no process is running.
 *
 * @param last how the last start ended; without an exit code when it was cut off
 * @param which stands behind their number
 */
export function toGoOn(
  count: number,
  given: RunCommand,
  { exitCode = 0, caps = [], reason = '' }: LastEnd,
  which = '',
): ToDo[] {
  const run = forRowsToGo(given);
  const reached = exitCode === cappedCode ? caps : [];
  const isBroken =
    reached.length === 0 &&
    run.isRehearsal &&
    run.options.includes('--faults') &&
    faultyCodes.includes(exitCode);
  // A daily cap has room again after some time. A price that was not agreed to would stop the same command again.
  const isPriced =
    exitCode === cappedCode &&
    !isBroken &&
    (reached.length === 0 || reached.some(({ option }) => option !== 'max-cost-per-day'));
  const again = isBroken ? withoutFaults(run) : run;
  const command = isPriced ? priceRest(run, reached) : runAgain(again);
  if (count === 0 || command === undefined) return [];
  return [
    {
      title: `${countOf(count, 'row')}${which} to go`,
      cause: isShownByRows(exitCode) ? '' : reason,
      cost: run.isRehearsal ? 'Rehearsal, nothing spent.' : '',
      advice:
        reached.length > 0
          ? cappedAdvice(reached, isPriced)
          : isBroken
            ? 'Continue without the faults:'
            : (beforeGoingOn[exitCode] ?? 'Continue:'),
      command,
    },
  ];
}

function alsoDone(toGo: number): string {
  return toGo === 0 ? '' : ` The command also continues with the ${countOf(toGo, 'row')} to go.`;
}

/** Whether the figures show how a start ended, as for failed rows and rows in doubt: its sentence need not be repeated. */
export function isShownByRows(exitCode: number): boolean {
  return [0, 1, 6].includes(exitCode);
}

/** Stands behind the number of rows to go that `forEarlierRows` gives the command for. */
export const ofEarlierManifest = ' of an earlier manifest';

/** The part of a start's end that decides how to continue. */
export type LastEnd = Partial<Pick<RunEnd, 'exitCode' | 'caps' | 'reason'>>;

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

/** By exit code. What happened is already in the sentence about the end. */
const beforeGoingOn: Readonly<Record<number, string>> = {
  3: 'See what they cost now. If you agree, run with --max-cost or --yes, or with other --prices or --max-price-drift:',
  4: 'Put right what stopped it, in this command too where it is an option, then continue:',
  69: 'When it can be reached, at the right address, continue:',
  74: 'Put right what stopped it, then continue:',
};

const cappedCode = 3;
/** Starts with these codes may have been ended by `--faults`, which would end the next one as well. */
const faultyCodes = [3, 4, 5, 6, 69];

/** The exact message, unless it differs from row to row. */
export function messageOf({ code, message, wording }: FailureGroup): string {
  const shown = message ?? wording;
  return shown === '' ? failureCodes[code].meaning : shown;
}

function commandOf(way: Way, code: FailureCode, given: RunCommand): string | undefined {
  const run = withoutFaults(given);
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
  prices: EditPrices,
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

/** `undefined` if a row has no known price. */
function priceOf(groups: readonly FailureGroup[], prices: EditPrices): MicroDollars | undefined {
  let sum = 0;
  for (const { count, edits } of groups) {
    let rows = 0;
    for (const [label, many] of edits) {
      rows += many;
      sum += many * (editPrice(prices, label) ?? NaN);
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
  // Rows that arrived one by one have no manifest for a command.
  if (command === undefined && advice.endsWith(':')) {
    if (advice.endsWith(elsewhere))
      return advice.replace(elsewhere, 'Feed all rows again, with another --out.');
    return `${advice.replace(/(?:,? (?:then|and) run(?: again)?)?:$/, '')}. Feed the rows again${code === 'invalid-row' ? '' : ` with \`--retry ${code}\``}.`;
  }
  if (code !== 'download' || firstAt === undefined || isRehearsal) return advice;
  const last = new Date(firstAt + pictureLifetimeMs);
  return `The download failed. Download ${count === 1 ? 'it' : 'them'} by ${last.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}:`;
}
