import { nodeDisk, shellWords } from '../../batch/formats.js';
import {
  isFree,
  peekJournal,
  readSummary,
  type RowRecords,
  whoHolds,
  withRows,
} from '../../batch/internal.js';
import { type Purchase, readSentTimes, takePurchases } from '../../report/read/read-costs.js';
import { runAgain, withoutFaults, type RunCommand } from '../../report/messages/run-again.js';
import type { CliIo } from '../io/cli-io.js';
import { countOf, formatMoney, plainText, shownPath, timeText } from '../messages/plain-text.js';
import { commandsForRows, databaseOfFolder } from '../start/what-is-left.js';
import { namedService, settleWords } from './settle-evidence.js';
import { commandOfRun } from '../plan/command-of-run.js';
import { elsewhereNote } from '../plan/plan-difference.js';

const shown = 30;

/** Lists the purchases in doubt of a run's folder, with the commands that settle them. Changes nothing. */
export async function listHeld(folder: string, io: Pick<CliIo, 'cwd' | 'env'>): Promise<string[]> {
  const name = shownPath(folder, io.cwd);
  const held = await heldPurchases(folder);
  const [first] = held;
  const elsewhere = 'a start with --db, or settling a row, copies them';
  const unanswered = [
    ...(await unansweredText(folder, name)),
    ...(await elsewhereNote(folder, 'left rows in doubt', elsewhere)),
  ];
  if (first === undefined && unanswered.length > 0) return [`${name}: no row is in doubt yet`, ...unanswered];
  if (first === undefined) return [`${name}: no row is in doubt, there is nothing to settle`];
  const sum = held.reduce((total, { cost }) => total + cost, 0);
  const command = await commandOfRun(folder, io);
  const polled = held.find(({ canBePolled }) => canBePolled);
  const ways = {
    one: wordsOf(first),
    folder: name,
    areSeveral: held.filter(({ isEarlier }) => !isEarlier).length > 1,
    ...(polled && { polled: wordsOf(polled) }),
  };
  return [
    `${name}: ${countOf(held.length, 'purchase')} in doubt, ${sum === 0 ? 'of no known price' : `up to ${formatMoney(sum)}`}`,
    ...held.slice(0, shown).map((purchase) => `  ${lineOf(purchase)}`),
    ...(held.length > shown ? [`  … and ${countOf(held.length - shown, 'more', 'more')}`] : []),
    ...(command?.isRehearsal === true
      ? waysOfRehearsal(ways)
      : waysToSettle(ways, await serviceWords(folder, command?.options ?? [], io))),
    ...(await againText(folder, held, command)),
    ...unanswered,
  ];
}

/** Rows that a start without an end has sent. Only the next start puts them in doubt, and only it may find workers that have them. */
async function unansweredText(folder: string, name: string): Promise<string[]> {
  const isAtWork =
    (await whoHolds(nodeDisk, folder)) !== undefined ||
    (await databaseOfFolder(folder, undefined)) !== undefined;
  if (isAtWork) return [];
  const ids: string[] = [];
  let count = 0;
  for await (const { id, intent } of (await peekJournal(nodeDisk, folder))?.rowsIn(['sent']) ?? []) {
    if (intent === undefined || isFree({ intent })) continue;
    if (++count <= shown) ids.push(id);
  }
  if (count === 0) return [];
  const more = count > ids.length ? `, … and ${countOf(count - ids.length, 'more', 'more')}` : '';
  return [
    `${countOf(count, 'row was', 'rows were')} sent and not answered before the last start ended: ${ids.map((id) => plainText(id, 60)).join(', ')}${more}`,
    `  in doubt from the next start on, which does not send ${count === 1 ? 'it' : 'them'} again; to settle one now, name it:`,
    `    ${settleWords(name, ids.slice(0, 1), '--not-sent')}`,
  ];
}

/** The most that each row in doubt may have cost, in millionths of a dollar; 0 without a known price. */
export async function heldPrices(folder: string): Promise<ReadonlyMap<string, number>> {
  const prices = new Map<string, number>();
  for (const { id, cost } of await heldPurchases(folder)) prices.set(id, Math.max(cost, prices.get(id) ?? 0));
  return prices;
}

interface Ways {
  /** The id of the first row, and options that say which of its purchases is meant. */
  readonly one: readonly string[];
  readonly folder: string;
  /** More than one row can be named without its attempt. */
  readonly areSeveral: boolean;
  /** The same for the first row whose job can still be polled. */
  readonly polled?: readonly string[];
}

function settle({ folder }: Ways, [id = '', ...which]: readonly string[], ...options: string[]): string {
  return settleWords(folder, [id], ...which, ...options);
}

function waysToSettle(ways: Ways, asked: readonly string[]): string[] {
  const { one, areSeveral, polled } = ways;
  return [
    `Look each of them up in your account at the service.${areSeveral ? ' Several ids can be named at once, with --not-sent and --paid.' : ''}`,
    '  it is not there:',
    `    ${settle(ways, one, '--not-sent')}`,
    ...(polled
      ? [
          '  it is there, and its result is wanted (put its job id for ID):',
          `    ${settle(ways, polled, '--job', 'ID', ...asked)}`,
        ]
      : []),
    '  it is there, and its result is given up (put what it cost for USD):',
    `    ${settle(ways, one, '--paid', 'USD')}`,
    '  by a billing export, a CSV with a line for each charge:',
    `    ${shellWords('millrace', 'settle', ways.folder)} --statement FILE`,
  ];
}

/** A rehearsal has no account to look at, and no job continues. */
function waysOfRehearsal(ways: Ways): string[] {
  const { one, areSeveral } = ways;
  return [
    `In a real run, look each of them up in your account at the service, and use --job or --statement. Here${areSeveral ? ', several ids can be named at once' : ''}:`,
    '  as if it were not there:',
    `    ${settle(ways, one, '--not-sent')}`,
    '  as if it were there, and its result given up (put what it cost for USD):',
    `    ${settle(ways, one, '--paid', 'USD')}`,
  ];
}

/** One command for each manifest that rows in doubt were sent with. */
async function againText(
  folder: string,
  held: readonly HeldPurchase[],
  command: RunCommand | undefined,
): Promise<string[]> {
  if (command === undefined) return [];
  const { isRehearsal } = command;
  const ids = held.filter(({ isEarlier }) => !isEarlier).map(({ id }) => id);
  const commands = (await commandsForRows(folder, command, ids)).flatMap((one) => {
    const again = runAgain(withoutFaults(one), '--retry', 'unknown');
    return again === undefined ? [] : [`    ${again}`];
  });
  const { toDo = 0 } = (await readSummary(nodeDisk, folder))?.rows ?? {};
  const more = toDo > 0 ? ', and continue with the rows to go' : '';
  const risk = isRehearsal ? '' : ', which may charge them twice';
  return commands.length === 0 ? [] : [`  send the rows again${risk}${more}:`, ...commands];
}

/**
 * Options to add to `settle --job`, which asks the service for the job: the host and the key, unless the environment or the
 * configuration names them.
 */
async function serviceWords(
  folder: string,
  options: readonly string[],
  io: Pick<CliIo, 'cwd' | 'env'>,
): Promise<string[]> {
  const { identity, manifests = [] } = (await peekJournal(nodeDisk, folder))?.recovered ?? {};
  if (identity === undefined || identity.local) return [];
  const named = await namedService({ baseUrl: undefined, apiKeyFile: undefined }, manifests.at(-1), io);
  const keyAt = options.indexOf('--api-key-file');
  const hasKey = named.apiKeyFile !== undefined || (io.env['MILLRACE_API_KEY'] ?? '') !== '';
  return [
    ...(named.baseUrl === identity.baseUrl ? [] : ['--base-url', identity.baseUrl]),
    ...(keyAt < 0 || hasKey ? [] : options.slice(keyAt, keyAt + 2)),
  ];
}

interface HeldPurchase extends Purchase {
  /** The row was bought again since, or the next start sends it again: commands must name the attempt. */
  readonly isEarlier: boolean;
  /** When its request was sent, ms since the epoch. */
  readonly sentAt: number | undefined;
  readonly canBePolled: boolean;
}

/** The `unknown` lines of costs.csv whose rows can be settled, then unknown rows without a line, because another run sent them. */
async function heldPurchases(folder: string): Promise<HeldPurchase[]> {
  const journal = await peekJournal(nodeDisk, folder);
  if (journal === undefined) return [];
  const unknown: Purchase[] = [];
  await takePurchases(nodeDisk, folder, (purchase) => {
    if (purchase.source === 'unknown') unknown.push(purchase);
  });
  const held: HeldPurchase[] = [];
  for await (const [purchase, row] of withRows(journal, unknown, ({ id }) => id)) {
    if (row === undefined) continue;
    const isEarlier =
      row.status === 'open' || (row.outcome?.purchase?.attempt ?? row.attempts) !== purchase.attempt;
    const canBePolled = !isEarlier || (row.status === 'open' && row.attempts === purchase.attempt);
    const sentAt = row.intent?.attempt === purchase.attempt ? row.intent.at : undefined;
    if (isEarlier || row.status === 'unknown') held.push({ ...purchase, isEarlier, sentAt, canBePolled });
  }
  const sentTimes = await readSentTimes(
    nodeDisk,
    folder,
    held.filter(({ sentAt }) => sentAt === undefined),
  );
  for (const [place, one] of held.entries())
    held[place] = { ...one, sentAt: one.sentAt ?? sentTimes.get(one) };
  const listed = new Set(held.map(({ id }) => id));
  for await (const row of journal.rowsIn(['unknown'])) if (!listed.has(row.id)) held.push(sentElsewhere(row));
  return held;
}

function sentElsewhere({ id, attempts, outcome }: RowRecords): HeldPurchase {
  return {
    id,
    row: 0,
    attempt: attempts,
    jobId: '',
    resolution: '',
    cost: outcome?.cost ?? 0,
    source: 'unknown',
    at: outcome?.at ?? NaN,
    isEarlier: false,
    sentAt: undefined,
    canBePolled: false,
  };
}

function lineOf({ id, attempt, isEarlier, cost, sentAt }: HeldPurchase): string {
  const name = `${plainText(id, 60)}${isEarlier ? `, attempt ${attempt}` : ''}`;
  const price = cost === 0 ? 'no known price' : formatMoney(cost);
  const when = sentAt === undefined ? '' : `, sent ${timeText(sentAt)}`;
  return `${name.padEnd(16)} ${price}${when}`;
}

function wordsOf({ id, isEarlier, attempt }: HeldPurchase): string[] {
  return isEarlier ? [id, '--attempt', String(attempt)] : [id];
}
