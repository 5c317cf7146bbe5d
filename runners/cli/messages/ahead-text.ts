import { boughtIn, describeBought, describeOutdated, firstOf, shellWords } from '../../batch/formats.js';
import {
  axesChangeText,
  movedText,
  newlySentText,
  unreadText,
  type Ahead,
  type BoughtRows,
} from '../../batch/internal.js';
import { toMicroDollars, toUsd } from '../../../src/contract/micro-dollars.js';
import { countOf, formatCount, formatMoney, formatDuration, fact, listed, plainText } from './plain-text.js';
import { priceText, sameFacts, settleText, usdOf } from './plan-text.js';
import { aheadByText } from './value-text.js';

/** Describes what a start does with its manifest, and what it may cost. */
export function aheadText(ahead: Ahead, local: boolean): string[] {
  const { rows, toSend, doubled, toPoll, toDownload, heldPaid, later, invalid, ended } = ahead;
  const held = heldAhead(ahead);
  const left = rows - toSend - doubled - toPoll - toDownload - held - heldPaid - later - invalid - ended;
  const price = { ...ahead.price, estimated: ahead.fits.estimated };
  const reasons = listed(againParts(ahead));
  const parts = [
    `${countOf(toSend, 'row')} to send${reasons === '' ? '' : ` (${reasons})`}`,
    doubled > 0 && `${formatCount(doubled)} in doubt to send again, which may charge twice`,
    toPoll > 0 && `${formatCount(toPoll)} to ask about`,
    toDownload > 0 && `${countOf(toDownload, 'picture')} to fetch`,
    left > 0 && `${formatCount(left)} left in flight by an earlier start`,
    held > 0 && `${formatCount(held)} in doubt`,
    heldPaid > 0 && `${formatCount(heldPaid)} paid before, and left`,
    invalid > 0 && `${formatCount(invalid)} invalid`,
    later > 0 && `${formatCount(later)} left for later`,
    ended > 0 && `${formatCount(ended)} ended before`,
  ];
  return [
    ...savesText(ahead),
    ...goneText(ahead),
    ...axesText(ahead),
    ...boughtText(ahead),
    ...outdatedText(ahead),
    ...fact('this start', listed(parts)),
    ...capText(ahead),
    ...aheadByText(ahead),
    ...fact(local ? 'price' : 'may cost', priceText(price, local)),
  ];
}

/** Rows that this start holds in doubt: also those whose request was on its way when the last start ended. */
function heldAhead({ toHold, heldPaid, unanswered }: Ahead): number {
  return toHold - heldPaid + unanswered;
}

function againParts({ retried, retriedUnknown, reopened, redone }: Ahead): (string | false)[] {
  return [
    retried > retriedUnknown && `${formatCount(retried - retriedUnknown)} failed before`,
    retriedUnknown > 0 && `${formatCount(retriedUnknown)} in doubt, which may charge twice`,
    reopened > 0 && `${formatCount(reopened)} reopened before, which may charge twice`,
    redone > 0 && `${formatCount(redone)} bought before`,
  ];
}

function goneText({ gone }: Ahead): string[] {
  return fact('not in it', gone > 0 && `${countOf(gone, 'row')} of earlier starts, kept`);
}

/** How the axes differ from those of earlier starts. */
function axesText({ axes }: Ahead): string[] {
  return axes === undefined ? [] : axesChangeText(axes).flatMap((text) => fact('axes', plainText(text, 500)));
}

const boughtShown = 5;

/**
 * Describes rows whose request was bought already: by this run, for rows that left the manifest or have changed, or in other
 * folders.
 */
function boughtText({ bought }: Ahead): string[] {
  return allBought(bought).flatMap((rows) => fact('bought', ...boughtFacts(rows)));
}

/** Rows that this run has bought, and those that others have. */
export function allBought(bought: BoughtRows | undefined): BoughtRows[] {
  return bought === undefined ? [] : [bought, ...allBought(bought.others)];
}

/** The same about rows that a start buys although another row asks for it, or had bought it: a start that prints no plan warns of them. */
export function duplicateWarning({ same, bought }: Pick<Ahead, 'same' | 'bought'>): string[] {
  const found = [...(same.rows > 0 ? [sameFacts(same)] : []), ...allBought(bought).map(boughtFacts)];
  return found.flatMap(([what, rows = []]) => [`warning: ${what}`, ...rows.map((row) => `  ${row}`)]);
}

function boughtFacts(bought: BoughtRows): [string, string[]?] {
  const { rows, cost, first, elsewhere } = bought;
  const what = `${countOf(rows, 'row asks', 'rows ask')} for what ${boughtWhere(bought)}; ${rows === 1 ? 'it' : 'each'} is bought again: ${priceText(cost)}`;
  const goOn =
    elsewhere &&
    `To continue the run that was begun, ${bought.isLost && !bought.isDamaged ? 'put that folder back' : `name its folder: ${outOf(elsewhere, bought)}`}`;
  if (goOn !== undefined) return [plainText(`${what}. ${goOn}`, 2000)];
  const lines = describeBought({ rows, cost, first: first.slice(0, boughtShown) });
  return [what, lines.map((line) => plainText(line))];
}

/** Rows of a redo manifest that were bought again after it was saved. */
function outdatedText({ outdated }: Ahead): string[] {
  if (outdated === undefined) return [];
  const first = outdated.first.slice(0, boughtShown);
  const lines = describeOutdated({ ...outdated, first }).map((line) => plainText(line));
  return fact('outdated', outdatedRows(outdated), lines);
}

export function outdatedRows({ rows, cost }: NonNullable<Ahead['outdated']>): string {
  return `${countOf(rows, 'row rejects', 'rows reject')} a picture that was bought again since (${priceText(cost)})`;
}

export function boughtWhere(
  bought: Pick<BoughtRows, 'elsewhere' | 'isLost' | 'isDamaged' | 'isReplaced'>,
): string {
  const { elsewhere } = bought;
  if (elsewhere === undefined) return 'the run has bought already under other ids';
  const { length } = elsewhere;
  return `${boughtIn(elsewhere, bought)}${length > 1 ? ` and ${countOf(length - 1, 'other folder')}` : ''}`;
}

/** The options that continue a run in its folder. */
export function outOf([run = '']: readonly string[], { isDamaged }: Pick<BoughtRows, 'isDamaged'>): string {
  return shellWords('--out', run, ...(isDamaged ? ['--repair'] : []));
}

const sources = {
  given: 'given to this start',
  remembered: 'which the run remembers',
  configured: 'of the configuration',
};

/** Describes which files of outputs are saved. */
function savesText({ saves = [] }: Ahead): string[] {
  return fact('saves', saves.map((path) => plainText(path, 80)).join(', '));
}

/** The cap in force, its source, and how many rows fit under it. */
export function capText({ cap, fits, toSend, doubled }: Ahead): string[] {
  if (cap === undefined) return [];
  const usd = toMicroDollars(cap.usd);
  const left = cap.left < usd ? `, with ${formatMoney(Math.max(cap.left, 0))} left` : '';
  const sent = toSend + doubled;
  const rows = fits.rows < sent ? `${formatCount(fits.rows)} of ${countOf(sent, 'row')} fit` : 'all rows fit';
  const what = sent === 0 ? '' : `: ${rows}${fits.rows < sent ? `, for ${formatMoney(fits.estimated)}` : ''}`;
  return fact('cap', `${formatMoney(usd)}, ${sources[cap.source]}${left}${what}`);
}

/** What a start would do in the run's folder after the earlier starts. */
export interface PlanDifference {
  readonly out: string;
  readonly ahead: Ahead;
  readonly isBegun: boolean;
  /** Another process works on the run at present. */
  readonly isRunning: boolean;
  /** Rows of the whole run by outcome. */
  readonly done: { readonly completed: number; readonly failed: number; readonly held: number };
  /** Rows of the manifest that an earlier start left in flight. */
  readonly goingOn: number;
  /** How long the start would take at the rate of the last one, in ms; absent if unknown. */
  readonly takesMs?: number;
  /** Notes about the manifest, for people. */
  readonly notes: readonly string[];
}

/**
 * Describes the difference between a manifest and the run in its folder, with one line for each kind of row, and the cost of a
 * start.
 */
export function differenceText(found: PlanDifference, shownOut: string, local: boolean): string[] {
  const { ahead, isBegun, takesMs, notes } = found;
  const held = heldAhead(ahead);
  const price = priceText({ ...ahead.price, estimated: ahead.fits.estimated }, local);
  const takes =
    takesMs === undefined ? '' : `, and take about ${formatDuration(takesMs)} at the rate of the last one`;
  return [
    ...(isBegun
      ? begunText(found, shownOut, local)
      : fact('in doubt', held > 0 && `${countOf(held, 'row')} that another run may have bought, and left`)),
    ...(isBegun ? [] : heldPaidText(ahead)),
    ...boughtText(ahead),
    ...outdatedText(ahead),
    ...savesText(ahead),
    ...capText(ahead),
    ...aheadByText(ahead),
    ...fact('this start', `${local ? '' : 'may cost '}${price}${takes}`),
    ...[...newlySentText(ahead.newlySent), ...unreadText(ahead.unread)].map(
      (text) => `  warning: ${plainText(text, 1000)}`,
    ),
    ...notes,
  ];
}

/** What a start continues of a run that has begun. */
function begunText(
  { ahead, isRunning, done, goingOn }: PlanDifference,
  out: string,
  local: boolean,
): string[] {
  const { toSend, doubled, toPoll, toDownload, later, changed } = ahead;
  const again = listed([
    ...againParts(ahead),
    doubled > 0 && `${formatCount(doubled)} in doubt, which may charge twice`,
  ]);
  const ongoing = goingOn + toPoll + toDownload;
  const held = done.held - ahead.retriedUnknown + heldAhead(ahead);
  const ids = changed.ids.map((id) => plainText(id, 60));
  return [
    ...fact('folder', `${out}: this continues the run, with the following differences`),
    ...fact(
      'done',
      `${formatCount(done.completed)} completed${done.failed > 0 ? `, ${formatCount(done.failed)} failed` : ''}`,
    ),
    ...fact(
      'going on',
      ongoing > 0 &&
        `${countOf(ongoing, 'row')} ${isRunning ? 'in flight' : local ? 'whose job or picture ended with the emulator' : 'whose job is polled or picture downloaded; nothing is bought'}`,
    ),
    ...fact('to be sent', `${countOf(toSend + doubled, 'row')}${again === '' ? '' : ` (${again})`}`),
    ...fact(
      'changed',
      changed.count > 0 && `${countOf(changed.count, 'row')}, kept as bought: ${firstOf(ids, changed.count)}`,
      changed.boughtAs === undefined ? [] : [plainText(movedText(changed.boughtAs), 1000)],
    ),
    ...fact('in doubt', held !== 0 && `${countOf(held, 'row')}: ${settleText(out, local)}`),
    ...heldPaidText(ahead),
    ...fact('later', later > 0 && `${countOf(later, 'row')} left for a later start`),
    ...goneText(ahead),
    ...axesText(ahead),
  ];
}

function heldPaidText({ heldPaid }: Ahead): string[] {
  return fact('paid', heldPaid > 0 && `${countOf(heldPaid, 'row')} of another run, paid there and left`);
}

/** As `plan --json` prints it; money in USD, times in ms. */
export function differenceJson(found: PlanDifference): object {
  const { out, ahead, isBegun, done, goingOn, takesMs } = found;
  const { toPoll, toDownload, toSend, retried, redone, doubled, heldPaid, later, gone, changed } = ahead;
  const { newlySent, cap, fits, by, axes, bought, outdated, saves, unread } = ahead;
  const toHold = ahead.toHold + ahead.unanswered;
  const counts = { toPoll, toDownload, toSend, retried, redone, doubled, toHold, heldPaid, later, gone };
  return {
    start: {
      out,
      isBegun,
      done,
      goingOn,
      ...counts,
      changed,
      ...(newlySent.length > 0 && { newlySent }),
      ...(axes && { axes: axes.axes }),
      ...(bought && { bought: boughtJson(bought) }),
      ...(unread && { unread }),
      ...(outdated && { outdated: rowsJson(outdated) }),
      ...(saves && { saves }),
      ...(cap && { cap: { usd: cap.usd, source: cap.source, left: toUsd(Math.max(cap.left, 0)) } }),
      fits: { rows: fits.rows, cost: toUsd(fits.estimated) },
      ...(by && { by: by.map(byJson) }),
      cost: usdOf(ahead.price),
      ...(takesMs !== undefined && { takesMs: Math.round(takesMs) }),
    },
  };
}

function rowsJson({ rows, cost, first }: NonNullable<Ahead['outdated']>): object {
  return {
    rows,
    cost: usdOf(cost),
    first: first.map(({ id, line, boughtAs }) => ({ id, line, ...(boughtAs !== undefined && { boughtAs }) })),
  };
}

function boughtJson({ elsewhere, others, ...rows }: BoughtRows): object {
  return {
    ...rowsJson(rows),
    ...(elsewhere && { elsewhere }),
    ...(others && { others: boughtJson(others) }),
  };
}

function byJson({ first, ...column }: NonNullable<Ahead['by']>[number]): object {
  return { ...column, first: first.map(({ estimated, ...one }) => ({ ...one, cost: toUsd(estimated) })) };
}
