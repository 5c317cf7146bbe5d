import { readWorkers } from '../records/worker-record.js';
import { collectRows, findRows, moneyOf } from './collect-rows.js';
import { createSweeper } from './sweep.js';
import { inTransaction, type Database, wakeWorkers } from '../records/database.js';
import { feedRows } from './feed-rows.js';
import { openRun, stopRun } from '../records/run-record.js';
import { dropQueues } from '../records/work-queue.js';
import { readState } from './read-state.js';
import type { RunStore } from './run-store.js';
import { settleHeld, takeUpRows } from './take-up-rows.js';

/** The collector's verbs on a database. Each may be called again when a broken connection did not say whether it was done. */
export function createRunStore(database: Database): RunStore {
  const { pool } = database;
  return {
    openRun: (key, terms) => openRun(database, key, terms),
    async findRun(key) {
      const { rows } = await pool.query<{ run: number }>('select run from millrace.runs where key = $1', [
        key,
      ]);
      return rows[0]?.run;
    },
    feed: (run, rows) => feedRows(database, run, rows),
    async fedAll(run) {
      await pool.query('update millrace.runs set fed_all = true where run = $1', [run]);
      await wakeWorkers(pool);
    },
    collect: (run, after, limit) => collectRows(pool, run, after, limit),
    find: (run, ids) => findRows(pool, run, ids),
    takeUp: (run, ids, to) => takeUpRows(database, run, ids, to),
    settle: (run, id, settlement) => settleHeld(database, run, id, settlement),
    moneyOf: (run, after, isKnown) => moneyOf(database, run, after, isKnown),
    stateOf: (run) => readState(pool, run),
    async stopRun(run, cause) {
      await inTransaction(pool, (on) => stopRun(on, run, cause));
      await wakeWorkers(pool);
    },
    sweep: createSweeper(database, Date.now),
    workers: () => readWorkers(pool),
    async forget(run) {
      await pool.query('delete from millrace.runs where run = $1', [run]);
      await dropQueues(database, run);
    },
  };
}
