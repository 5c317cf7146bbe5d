import { resolve } from 'node:path';
import { toUsd } from '../../../src/contract/micro-dollars.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { peekJournal } from '../../batch/journal/peek-journal.js';
import type { RowRecords } from '../../batch/journal/journal.js';
import type { RowSettlement } from '../../batch/settle-row.js';
import { reconcile, type Reconciliation } from '../../report/reconcile/reconcile.js';
import type { CliIo } from '../io/cli-io.js';
import type { SettleOptions } from '../options/settle-options.js';
import { explainStatement } from './reconcile.js';

type Held = Reconciliation['held'][number];

/**
 * How a billing export says that held purchases ended: one charge that looks like a purchase is its job, or what it cost
 * where its row was bought again since; none means that it was not sent. `open`: a line for each purchase that several
 * charges look like, or that shares its charge with another, which a person decides.
 *
 * @param ids only these rows; all where there are none
 */
export async function proposedSettlements(
  folder: string,
  ids: readonly string[],
  { statement = '', jobColumn: job, amountColumn: amount, timeColumn: time }: SettleOptions,
  io: Pick<CliIo, 'cwd'>,
): Promise<{ readonly rows: RowSettlement[]; readonly open: string[] }> {
  const { held } = await reconcile(folder, resolve(io.cwd, statement), {
    columns: { ...(job && { job }), ...(amount && { amount }), ...(time && { time }) },
  }).catch(explainStatement);
  const journal = await peekJournal(nodeDisk, folder);
  const rows: RowSettlement[] = [];
  const open: string[] = [];
  for (const one of held) {
    const { id, attempt } = one.purchase;
    if (ids.length > 0 && !ids.includes(id)) continue;
    const shared = held.some(
      (other) => other !== one && other.charges.some((charge) => one.charges.includes(charge)),
    );
    if (one.charges.length > 1 || shared)
      open.push(
        `${id}: ${one.charges.length} charges look like it${shared ? ', and like another row' : ''}: settle it by itself`,
      );
    else rows.push(proposal(one, attempt, await journal?.find(id)));
  }
  return { rows, open };
}

function proposal({ purchase, charges }: Held, attempt: number, row: RowRecords | undefined): RowSettlement {
  const { id } = purchase;
  const [charge] = charges;
  const isLatest = row?.status === 'unknown' && (row.outcome?.purchase?.attempt ?? row.attempts) === attempt;
  const which = isLatest ? { id } : { id, attempt };
  if (charge === undefined) return { ...which, settlement: { notSent: true } };
  if (isLatest && charge.jobId !== '') return { ...which, settlement: { jobId: charge.jobId } };
  return { ...which, settlement: { paidUsd: toUsd(charge.amount) } };
}
