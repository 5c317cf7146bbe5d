import { collectRows } from './collect-rows.js';
import { inTransaction, type Database } from './database.js';
import { lockLedger } from './ledger-record.js';
import { costIn } from './run-change.js';
import type { EndedRow, KnownMoney } from './run-store.js';
import type { ReplyRecord } from '../../batch/journal/record.js';

const pageRows = 500;

/** What a run has spent and holds, but for what is paid and being saved, and for endings that somebody does not know. */
export function moneyOf(
  { pool }: Database,
  run: number,
  after: number,
  isKnown: (row: EndedRow) => Promise<boolean>,
): Promise<KnownMoney> {
  return inTransaction(pool, async (on) => {
    // Nothing ends meanwhile: whoever ends a row locks the ledger first.
    const { spent, unknown } = await lockLedger(on, run);
    const money = { spent, unknown };
    const takeOff = ({ cost, source }: ReturnType<typeof costIn>): void => {
      if (source === 'unknown') money.unknown -= cost ?? 0;
      else if (source !== 'none') money.spent -= cost ?? 0;
    };
    const text = `select reply from millrace.rows where run = $1 and state = 'saving'`;
    for (const { reply } of (await on.query<{ reply: ReplyRecord }>(text, [run])).rows) takeOff(reply);
    for (let from = after; ;) {
      const page = await collectRows(on, run, from, pageRows);
      for (const row of page) if (!(await isKnown(row))) takeOff(costIn(row.ending));
      if (page.length < pageRows) return money;
      from = page.at(-1)?.seq ?? from;
    }
  });
}
