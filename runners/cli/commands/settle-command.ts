import { settleRows, type RowSettlement, type Settlement, type SettleOptions } from '../../batch/index.js';
import { ask, canAsk } from '../io/ask-person.js';
import type { CliIo, CommandCall } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { commandOptions } from '../options/parse-options.js';
import { runFolder } from '../options/run-folder.js';
import { countOf, formatMoney, plainText } from '../messages/plain-text.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { nodeDisk } from '../../batch/formats.js';
import { isHeld, peekJournal } from '../../batch/internal.js';
import { databaseOfFolder, goOnText } from '../start/what-is-left.js';
import { heldPrices, listHeld } from './list-held.js';
import { askForJob, proposedSettlements, type SettleArguments } from './settle-evidence.js';

/** Records how rows in doubt ended. Buys nothing. */
export async function settleCommand({
  args: [name, ids],
  raw,
  io,
  fault,
}: CommandCall<[string, readonly string[]]>): Promise<number> {
  const options = commandOptions('settle', raw);
  const isDecided = waysOf(options).length > 0 || options.statement !== undefined;
  if (ids.length === 0 && !isDecided) {
    io.stdout.write(`${(await listHeld(await runFolder(name, io), io)).join('\n')}\n`);
    return 0;
  }
  const rows = options.statement === undefined ? rowsOf(ids, options) : undefined;
  const folder = await runFolder(name, io);
  fault.folder = folder;
  if (rows === undefined) return settleByStatement(folder, ids, options, io);
  const [first] = rows;
  if (first !== undefined && 'jobId' in first.settlement)
    await askForJob(folder, first.id, first.settlement.jobId, { options, io, fault });
  await agreeToAmount(folder, rows, options, io);
  await write(folder, rows, options, io);
  return 0;
}

/** An amount above this many times the row's price needs a confirmation. */
const plausibleTimes = 10;
const plausibleUsd = 25;

/** Asks before recording an amount far above the price, which may lack its decimal point: a recorded cost cannot be taken back. */
async function agreeToAmount(
  folder: string,
  rows: readonly RowSettlement[],
  options: SettleArguments,
  io: CliIo,
): Promise<void> {
  if (options.paid === undefined) return;
  const amount = toMicroDollars(options.paid);
  const prices = await heldPrices(folder);
  // What workers have done since is in their database.
  const isOpen = (await databaseOfFolder(folder, options.db))?.note.isOpen === true;
  const journal = isOpen ? undefined : await peekJournal(nodeDisk, folder);
  for (const { id, attempt } of rows) {
    if ((attempt === undefined || !prices.has(id)) && !isOpen && (await isSettled(journal, id))) continue;
    const price = prices.get(id) ?? 0;
    if (amount <= (price > 0 ? price * plausibleTimes : toMicroDollars(plausibleUsd))) continue;
    const than =
      price > 0
        ? `row ${JSON.stringify(id)} was expected to cost ${formatMoney(price)}`
        : `the price of row ${JSON.stringify(id)} is not known`;
    const text = plainText(
      `--paid: ${formatMoney(amount)} seems too high: ${than}; a recorded cost cannot be taken back`,
      500,
    );
    return agree(text, 'Record it?', options, io);
  }
}

/** Whether the row will be refused as one that is not in doubt. */
async function isSettled(journal: Awaited<ReturnType<typeof peekJournal>>, id: string): Promise<boolean> {
  const row = await journal?.find(id);
  return row === undefined || !isHeld(row);
}

/** Asks, unless `--yes` was given. Throws `UsageError` if the answer is no, or nobody can be asked. */
async function agree(text: string, question: string, { yes }: SettleArguments, io: CliIo): Promise<void> {
  if (yes) return;
  const why = text === '' ? [] : [text];
  if (!canAsk(io))
    throw new UsageError([...why, 'nothing is settled: it cannot ask here'], 'agree to it with --yes');
  if ((await ask([...why, question].join('. '), io)) !== 'yes') throw new UsageError(['nothing is settled']);
}

function rowsOf(ids: readonly string[], options: SettleArguments): RowSettlement[] {
  const settlement = chosen(options);
  const { attempt, job } = options;
  if (ids.length === 0) throw new UsageError(['name the rows: millrace settle <out> <id…>']);
  if (ids.length > 1 && job !== undefined)
    throw new UsageError(['--job: a job belongs to one row: name one id']);
  if (ids.length > 1 && attempt !== undefined)
    throw new UsageError(['--attempt: counts the purchases of one row: name one id']);
  return [...new Set(ids)].map((id) => ({ id, settlement, ...(attempt !== undefined && { attempt }) }));
}

function waysOf({ job, paid, notSent, undo }: SettleArguments): Settlement[] {
  return [
    ...(job === undefined ? [] : [{ jobId: job }]),
    ...(paid === undefined ? [] : [{ paidUsd: paid }]),
    ...(notSent ? [{ notSent: true } as const] : []),
    ...(undo ? [{ undo: true } as const] : []),
  ];
}

/** Exactly one way to settle. */
function chosen(options: SettleArguments): Settlement {
  const ways = waysOf(options);
  const [way] = ways;
  if (way !== undefined && ways.length === 1) return way;
  throw new UsageError([
    'say how the row ended with one of --job ID, --paid USD and --not-sent, or with --statement FILE; --undo takes back --job and --not-sent',
  ]);
}

async function settleByStatement(
  folder: string,
  ids: readonly string[],
  options: SettleArguments,
  io: CliIo,
): Promise<number> {
  if (options.job !== undefined || options.paid !== undefined || options.notSent || options.undo)
    throw new UsageError(['--statement says how each row ended: leave --job, --paid and --not-sent out']);
  const { rows, open } = await proposedSettlements(folder, ids, options, io);
  const lines = [
    ...rows.map((row) => plainText(lineOf(row), 500)),
    ...open.flatMap(({ text, command }) => [
      plainText(text, 700),
      ...(command === undefined ? [] : [`    ${command}`]),
    ]),
  ];
  if (lines.length === 0) lines.push('no row is in doubt: there is nothing to settle');
  io.stdout.write(`${lines.join('\n')}\n`);
  if (rows.length > 0) {
    await agree('', `Settle ${countOf(rows.length, 'row')} so?`, options, io);
    await write(folder, rows, options, io, true);
  }
  return open.length > 0 ? 1 : 0;
}

async function write(
  folder: string,
  rows: readonly RowSettlement[],
  { db }: SettleArguments,
  io: CliIo,
  isPrinted = false,
): Promise<void> {
  const journal = await journalOf(folder, db, io);
  await settleRows(folder, rows, { ...(journal && { journal }) });
  const left = rows
    .filter(({ settlement, attempt }) => attempt === undefined && isToBeDone(settlement))
    .map(({ id }) => id);
  const lines = [
    ...(isPrinted ? [] : rows.map((row) => plainText(lineOf(row), 500))),
    ...(await goOnText(folder, left, io)),
  ];
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

function isToBeDone(settlement: Settlement): boolean {
  return 'jobId' in settlement || 'notSent' in settlement;
}

function lineOf({ id, settlement, attempt }: RowSettlement): string {
  const name = attempt === undefined ? id : `${id}, attempt ${attempt}`;
  const isFreed = attempt !== undefined;
  if ('jobId' in settlement) return `${name}: job ${settlement.jobId} is polled when the run continues`;
  if ('notSent' in settlement)
    return isFreed
      ? `${name}: was not sent, and is no longer in doubt`
      : `${name}: is sent when the run continues`;
  if ('undo' in settlement) return `${name}: is in doubt again`;
  const paid = formatMoney(toMicroDollars(settlement.paidUsd));
  return isFreed ? `${name}: cost ${paid}` : `${name}: was paid, ${paid}, and its result is given up`;
}

/**
 * Opens the journal of a run in a database. Its records are copied to the folder first; without the database nothing can be
 * settled.
 */
async function journalOf(
  out: string,
  db: string | undefined,
  { env, stderr }: CliIo,
): Promise<SettleOptions['journal']> {
  const database = await databaseOfFolder(out, db);
  if (database === undefined) return undefined;
  const { journalOfRun } = await import('../../distributed/collector/open-collector.js');
  return journalOfRun(database, env, (message) => void stderr.write(`warning: ${plainText(message, 500)}\n`));
}
