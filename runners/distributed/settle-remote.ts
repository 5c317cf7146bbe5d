import { nodeDisk } from '../batch/disk/node-disk.js';
import { peekJournal } from '../batch/journal/peek-journal.js';
import type { Settlement } from '../batch/settle-row.js';
import { connectDatabase } from './connect-database.js';
import type { DatabaseOfRun } from './database-of-run.js';
import { createRunStore } from './store/create-run-store.js';
import type { HeldSettlement } from './store/run-store.js';

/**
 * Tells the database what a person found out about a held row, once the run's journal knows it: what was held for the row
 * is free there as well.
 */
export async function settleRemote(
  out: string,
  id: string,
  settlement: Settlement,
  { note, choice }: DatabaseOfRun,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const told = await inDatabase(out, id, settlement);
  if (told === undefined) return;
  const database = await connectDatabase(choice, { env, name: 'millrace settle', max: 2 });
  try {
    const store = createRunStore(database);
    const run = await store.findRun(note.key);
    if (run !== undefined) await store.settle(run, id, told);
  } finally {
    await database.close();
  }
}

/** The ending is the journal's word for word, so that it is recognised when it is collected. */
async function inDatabase(
  out: string,
  id: string,
  settlement: Settlement,
): Promise<HeldSettlement | undefined> {
  if (!('paidUsd' in settlement)) return settlement;
  const journal = await peekJournal(nodeDisk, out);
  const outcome = (await journal?.find(id))?.outcome;
  return outcome === undefined ? undefined : { outcome };
}
