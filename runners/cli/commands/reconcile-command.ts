import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { nodeDisk } from '../../batch/formats.js';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { describeReconciliation } from '../../report/reconcile/describe-reconciliation.js';
import { reconcileRun, type Reconciliation } from '../../report/reconcile/reconcile-run.js';
import type { CliIo, CommandCall } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import type { OptionsOf } from '../options/option-table.js';
import { commandOptions } from '../options/parse-options.js';
import { runFolder } from '../options/run-folder.js';
import { plainText } from '../messages/plain-text.js';
import { toUsd } from '../../../src/contract/micro-dollars.js';

/**
 * Compares the purchases of a run with a billing export, and names those that only one of them has. Sends and changes nothing.
 * Exit 0 if both agree, else 1.
 */
export async function reconcileCommand({ args: [name], raw, io }: CommandCall<[string]>): Promise<number> {
  const options = commandOptions('reconcile', raw);
  const folder = await runFolder(name, io);
  const found = await reconciled(folder, options.statement, options, io);
  const lines = options.json
    ? [JSON.stringify(reconciliationJson(found))]
    : describeReconciliation(found).map((line) => `${/^ */.exec(line)?.[0] ?? ''}${plainText(line)}`);
  io.stdout.write(`${lines.join('\n')}\n`);
  return found.isEven ? 0 : 1;
}

async function statementFile(name: string, io: Pick<CliIo, 'cwd'>): Promise<string> {
  const path = resolve(io.cwd, name);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new UsageError([`--statement: "${name}": there is no such file`]);
  if (!found.isFile())
    throw new UsageError([`--statement: "${name}" is not a file: name a billing export (CSV)`]);
  return path;
}

/** Compares a run with an export, by the name of its file. Errors of the export become `UsageError`s that name the options which may help. */
export async function reconciled(
  folder: string,
  statement: string,
  {
    jobColumn: job,
    amountColumn: amount,
    timeColumn: time,
  }: Pick<OptionsOf<'settle'>, 'jobColumn' | 'amountColumn' | 'timeColumn'>,
  io: Pick<CliIo, 'cwd'>,
): Promise<Reconciliation> {
  const path = await statementFile(statement, io);
  await refuseBehind(folder);
  const columns = { ...(job && { job }), ...(amount && { amount }), ...(time && { time }) };
  return reconcileRun(folder, path, columns).catch((error: unknown) => {
    if (!isMillraceError(error) || !error.code.startsWith('statement')) throw error;
    const isOfColumns = error.code === 'statement-columns';
    const hint = isOfColumns
      ? 'name the columns with --job-column, --amount-column and --time-column'
      : undefined;
    throw new UsageError([error.message], hint);
  });
}

/**
 * Workers go on where the run's own process is gone, and a charge for what they have bought looks like that of a row in
 * doubt, or like one of another run, until their records are copied.
 */
async function refuseBehind(folder: string): Promise<void> {
  const { readRunNote } = await import('../../distributed/collector/run-note.js');
  const note = await readRunNote(nodeDisk, folder);
  if (note?.isOpen !== true) return;
  const why = `--statement: workers may have bought what is only in the database so far (${note.database}), and not in the books of this run`;
  throw new UsageError(
    [why],
    'nothing is compared or settled: start the run again with --db first, which copies it',
  );
}

type Purchase = Reconciliation['onlyInRun'][number];
type Charge = Reconciliation['onlyInStatement'][number];

/** The most charges of a purchase in doubt: 100,000 such purchases may be printed. */
const chargesInJson = 20;

/** What `reconcile --json` prints: money in USD, times as ISO text. */
function reconciliationJson(found: Reconciliation): Record<string, unknown> {
  const { totals, matched, byHand, differing, onlyInRun, onlyInStatement, held, elsewhere, isEven } = found;
  return {
    isEven,
    totals: {
      booked: toUsd(totals.booked),
      inDoubt: toUsd(totals.unknown),
      charged: toUsd(totals.charged),
    },
    matched,
    byHand: byHand.length,
    differing: differing.map(({ purchase, charge }) => ({
      purchase: purchaseJson(purchase),
      charge: chargeJson(charge),
    })),
    onlyInRun: onlyInRun.map(purchaseJson),
    onlyInStatement: onlyInStatement.map(chargeJson),
    held: held.map(({ purchase, charges, hasMore }) => ({
      purchase: purchaseJson(purchase),
      charges: charges.slice(0, chargesInJson).map(chargeJson),
      ...((hasMore || charges.length > chargesInJson) && { hasMoreCharges: true }),
    })),
    elsewhere: { count: elsewhere.count, amount: toUsd(elsewhere.amount) },
  };
}

function purchaseJson({ cost, at, ...purchase }: Purchase): Record<string, unknown> {
  return {
    ...purchase,
    cost: toUsd(cost),
    ...(!Number.isNaN(at) && { settledAt: new Date(at).toISOString() }),
  };
}

function chargeJson({ amount, at, ...charge }: Charge): Record<string, unknown> {
  return { ...charge, amount: toUsd(amount), ...(at !== undefined && { at: new Date(at).toISOString() }) };
}
