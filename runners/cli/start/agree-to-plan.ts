import type { RunStages } from '../../batch/index.js';
import {
  describeBought,
  describeOutdated,
  type Plan,
  type PriceBook,
  type SameRows,
} from '../../batch/formats.js';
import {
  isRead,
  stopCauses,
  type Ahead,
  type BoughtRows,
  type RowFacts,
  type Run,
  type Task,
} from '../../batch/internal.js';
import type { RunOptions } from '../options/parse-options.js';
import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import {
  allBought,
  duplicateWarning,
  aheadText,
  boughtWhere,
  outdatedRows,
  outOf,
} from '../messages/ahead-text.js';
import { planText, priceText, reservedText } from '../messages/plan-text.js';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import type { SavedPlan } from '../plan/saved-plan.js';
import { askAboveUsd, type StartedRun } from './batch-options.js';
import { firstRunNote } from '../plan/plan-difference.js';
import { requireHosts } from '../service/open-target.js';
import { optionNotes, refuseInvalid, refuseMissing, refuseSame } from '../plan/plan-source.js';
import { ask, canAsk } from '../io/ask-person.js';
import { countOf, formatMoney, listed, plainText } from '../messages/plain-text.js';

/** The checked manifest, and what a start would do. Nothing has been sent yet. */
export interface CheckedRun {
  readonly plan: Plan;
  readonly ahead: Ahead;
}

/**
 * Shows what a start will do and cost, and asks if necessary. Throws `UsageError` if the run is not to start. `stopped`
 * interrupts the question.
 */
export async function agreeToPlan(
  { plan, ahead }: CheckedRun,
  { io, options, source, out, live, target, prices, plan: saved }: StartedRun,
  stopped: AbortSignal,
): Promise<'go' | 'interrupted'> {
  const isCapped = ahead.cap !== undefined || options.maxCostPerDay !== undefined;
  if (live !== undefined) {
    if (ahead.bought !== undefined && !options.yes && !options.local) throw followedAnew(ahead.bought);
    if (!isCapped && !options.yes && !options.local) refusePricedRows(options, prices);
    if (!options.quiet) io.stderr.write(followText(isCapped, options));
    return 'go';
  }
  refuseInvalid(plan, source, options, io);
  requireHosts(plan, target);
  refuseSame(ahead.same, options, source.name);
  if (saved !== undefined) refuseDearer(ahead, saved);
  if (!options.quiet) {
    const note = [...optionNotes(plan, options), ...(await firstRunNote(source.path, out, io.cwd))];
    const lines = [
      ...planText(plan, source.name),
      ...reservedText(prices.table()),
      ...aheadText(ahead, options.local),
      ...note,
    ];
    io.stderr.write(`${lines.join('\n')}\n`);
  }
  if (options.local) return 'go';
  for (const confirm of [confirmRedo, confirmSame]) {
    const answer = await confirm(ahead, options, io, stopped);
    if (answer !== 'go') return answer;
  }
  return confirmPrice(stakeOf(ahead, options), { yes: options.yes, isCapped }, io, stopped);
}

/** Rows that buy the request of another row again, each once: of one of this manifest or run, or only of another run's. */
function againOf({
  same,
  bought,
}: Pick<Ahead, 'same' | 'bought'>): RowSum & { readonly isOnlyElsewhere: boolean } {
  const found = allBought(bought);
  const twice = sumOf(found.flatMap((rows) => rows.twice ?? []));
  const isOnlyElsewhere = bought?.elsewhere !== undefined && same.rows <= twice.rows;
  return { ...sumOf([same, ...found], twice), isOnlyElsewhere };
}

type RowSum = Pick<SameRows, 'rows' | 'cost'>;

const noRows: RowSum = { rows: 0, cost: { estimated: 0, unpriced: 0 } };

/** @param less rows that are counted twice */
function sumOf(found: readonly RowSum[], less = noRows): RowSum {
  const sum = { rows: -less.rows, estimated: -less.cost.estimated, unpriced: -less.cost.unpriced };
  for (const { rows, cost } of found) {
    sum.rows += rows;
    sum.estimated += cost.estimated;
    sum.unpriced += cost.unpriced;
  }
  const { rows, ...cost } = sum;
  return { rows, cost };
}

/** What a start may buy: rows that fit under the run's cap, and no more than the daily cap. */
function stakeOf({ fits, price }: Ahead, { maxCostPerDay }: StartedRun['options']): Stake {
  const { unpriced } = price;
  if (maxCostPerDay === undefined) return { estimated: fits.estimated, unpriced };
  return { estimated: Math.min(fits.estimated, toMicroDollars(maxCostPerDay)), unpriced };
}

/** Throws `UsageError` if an option of the command line prevented the start. Otherwise the caller prints the runner's reason. */
export function explainRefusal(
  { plan, ahead }: CheckedRun,
  { io, options, source, target }: StartedRun,
): void {
  refuseInvalid(plan, source, options, io);
  refuseMissing(ahead.missing, ahead.areApart);
  refuseSame(ahead.same, options, source.name);
  requireHosts(plan, target);
}

function followText(isCapped: boolean, { local, yes }: StartedRun['options']): string {
  const isOpen = !local && !isCapped && yes;
  return `following stdin: rows are sent as they arrive${isOpen ? ', and nothing limits what they cost (--max-cost does)' : ''}\n`;
}

/** Throws `UsageError` if the service charged more in earlier starts than the plan expects. */
function refuseDearer({ price }: Ahead, { name, foot }: SavedPlan): void {
  if (price.estimated <= foot.estimated && price.unpriced <= foot.unpriced) return;
  throw new UsageError(
    [
      `this start costs ${priceText(price)} by the charges of the service so far; planned: ${priceText(foot)}`,
    ],
    `nothing was sent; plan anew with --prices and --save ${name}`,
  );
}

const askAbove = toMicroDollars(askAboveUsd);

/** What a start may buy, under the cap in force. */
export interface Stake {
  readonly estimated: MicroDollars;
  /** Rows without a known price. The question mentions them; the estimate does not include them. */
  readonly unpriced: number;
}

/**
 * A start that may cost more than $25 needs a person's agreement: this asks for it on the terminal. If it cannot ask, it needs
 * `--yes` or a cap, or throws `UsageError`. Nothing has been sent yet.
 *
 * @param consent `isCapped`: whether the run's cap or the daily cap is in force
 */
export async function confirmPrice(
  { estimated, unpriced }: Stake,
  consent: { readonly yes: boolean; readonly isCapped: boolean },
  io: Pick<CliIo, 'stdin' | 'stderr'>,
  stopped?: AbortSignal,
): Promise<'go' | 'interrupted'> {
  if (consent.yes || estimated <= askAbove) return 'go';
  const uncounted = unpriced > 0 ? `, and ${countOf(unpriced, 'row')} of no known price are not counted` : '';
  const price = `${formatMoney(estimated)}${uncounted}`;
  if (canAsk(io)) return askToGo(`This may cost ${price}. Go on?`, io, stopped);
  if (consent.isCapped) return 'go';
  throw new UsageError(
    [
      `this start may buy for ${price}. Above ${formatMoney(askAbove)} it asks, and it cannot ask here: ${whyNot(io)}`,
    ],
    'agree to it with --yes, or set a cap with --max-cost USD; nothing was sent',
  );
}

/**
 * Asks on a terminal about rows that would be bought a second time under another id. Without a terminal, rows that ask for the
 * same within one manifest are sent: the plan names them, or with `--quiet`, which prints no plan, a warning. Rows that were
 * bought before, at a known price, are refused unless `--yes` is given: otherwise a nightly export with new ids, or a folder
 * named after the day, would buy everything each night.
 */
export async function confirmSame(
  ahead: Pick<Ahead, 'same' | 'bought'>,
  { yes, quiet = false }: { readonly yes: boolean; readonly quiet?: boolean },
  io: Pick<CliIo, 'stdin' | 'stderr'>,
  stopped?: AbortSignal,
): Promise<'go' | 'interrupted'> {
  const { rows, cost, isOnlyElsewhere } = againOf(ahead);
  if (rows === 0 || yes) return 'go';
  if (!canAsk(io)) {
    const { bought } = ahead;
    const found = allBought(bought);
    if (bought !== undefined && (bought.isHere || bought.isDamaged || sumOf(found).cost.estimated > 0))
      throw boughtAlready(bought, io);
    if (quiet) io.stderr.write(`${duplicateWarning(ahead).join('\n')}\n`);
    return 'go';
  }
  const elsewhere = allBought(ahead.bought).filter((bought) => bought.elsewhere !== undefined);
  const where = [!isOnlyElsewhere && 'another row asks for', ...elsewhere.map(boughtWhere)];
  const what = plainText(listed(where, ', or what '), 500);
  const again = `${countOf(rows, 'row asks', 'rows ask')} for exactly what ${what} (${formatMoney(cost.estimated)})`;
  return askToGo(`${again}. Buy them too?`, io, stopped);
}

/**
 * Asks on a terminal about rows of a redo manifest that were bought again after their picture was rejected, in an older report.
 * Without a terminal they are refused, unless `--yes` is given.
 */
export async function confirmRedo(
  { outdated }: Pick<Ahead, 'outdated'>,
  { yes }: { readonly yes: boolean },
  io: Pick<CliIo, 'stdin' | 'stderr'>,
  stopped?: AbortSignal,
): Promise<'go' | 'interrupted'> {
  if (outdated === undefined || yes) return 'go';
  if (canAsk(io)) return askToGo(`${outdatedRows(outdated)}. Buy them again all the same?`, io, stopped);
  throw new UsageError(
    [
      ...describeOutdated(outdated).map((line) => plainText(line)),
      `${outdatedRows(outdated)}. ${asksAbout(outdated.rows, io)}`,
    ],
    'save the redo manifest from a new report, or buy them with --yes; nothing was sent',
  );
}

async function askToGo(
  question: string,
  io: Pick<CliIo, 'stdin' | 'stderr'>,
  stopped: AbortSignal | undefined,
): Promise<'go' | 'interrupted'> {
  const answer = await ask(question, io, stopped);
  if (answer === 'no') throw new UsageError(['not started, nothing was sent']);
  return answer === 'yes' ? 'go' : answer;
}

function boughtAlready(bought: BoughtRows, io: Pick<CliIo, 'stdin' | 'stderr'>): UsageError {
  const { elsewhere, isLost, isDamaged } = bought;
  const { rows } = sumOf(allBought(bought));
  const what = allBought(bought)
    .map(
      (found) =>
        `${countOf(found.rows, 'row asks', 'rows ask')} for what ${boughtWhere(found)} (${formatMoney(found.cost.estimated)})`,
    )
    .join(', and ');
  const there = elsewhere && `continue there with ${outOf(elsewhere, bought)}`;
  const instead =
    isLost && !isDamaged ? 'put that folder back' : (there ?? 'give the rows their earlier ids');
  return new UsageError(
    [plainText(`${what}. ${asksAbout(rows, io)}`, 2000)],
    `${plainText(instead, 2000)}, or buy them again with --yes; nothing was sent`,
  );
}

function asksAbout(rows: number, io: Pick<CliIo, 'stdin' | 'stderr'>): string {
  return `A start asks before it buys ${rows === 1 ? 'it' : 'them'} again, and it cannot ask here: ${whyNot(io)}`;
}

function whyNot({ stdin, stderr }: Pick<CliIo, 'stdin' | 'stderr'>): string {
  const names = listed([stdin.isTTY !== true && 'stdin', stderr.isTTY !== true && 'stderr'], ' and ');
  return `${names} ${names.includes(' ') ? 'are not terminals' : 'is not a terminal'}`;
}

/** Rows of `--follow` are not known yet, and stdin cannot answer. */
function followedAnew(bought: BoughtRows): UsageError {
  return new UsageError(
    [plainText(`--follow: ${listed(describeBought(bought))}`, 2000)],
    'put that folder back, or begin anew with --yes; nothing was sent',
  );
}

const agreeHint =
  'with --follow nobody knows how many such rows will come: set a cap with --max-cost or --max-cost-per-day, or agree to any price with --yes';

/** Throws `UsageError` if the rows of `--follow` have a price by the options and nobody has agreed to it. */
function refusePricedRows({ kind, endpoint }: RunOptions, prices: PriceBook): void {
  if (kind === undefined) return;
  const price = prices.priceOf({ kind, endpoint: endpoint ?? '' });
  if (price === null || price === 0) return;
  throw new UsageError(
    [`--follow: a row of this kind costs ${formatMoney(price)}`],
    `${agreeHint}; nothing was sent`,
  );
}

type TakeRows = RunStages['takeRows'];

/** Takes arriving rows. Unless a price was agreed to, the first row with a price stops the run and is not sent. */
export function agreedRows(isAgreed: boolean, take: TakeRows): TakeRows {
  if (isAgreed) return take;
  return async function* (run: Run): AsyncGenerator<Task, void, void> {
    let sent = 0;
    for await (const task of take(run)) {
      if (task.what === 'send') {
        const price = rowPrice(run, task.row);
        if (price > 0 && run.money.ledger.snapshot().cap === undefined) {
          const row = `row ${JSON.stringify(task.row.id)} costs ${formatMoney(price)}`;
          return void run.stops.stop(
            stopCauses.notAgreed(`${row}, and nobody has agreed to it: ${agreeHint}`, sent > 0),
          );
        }
        sent++;
      }
      yield task;
    }
  };
}

function rowPrice({ money: { prices } }: Run, row: RowFacts): number {
  return isRead(row) ? 0 : (prices.priceOf(row) ?? 0);
}
