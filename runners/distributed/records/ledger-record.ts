import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Priced } from '../../batch/ledger/price-book.js';
import type { Transaction } from './database.js';

/** The money and the counts of a run. Money in millionths of a dollar. */
export interface LedgerRecord {
  readonly cap: MicroDollars | null;
  reserved: MicroDollars;
  spent: MicroDollars;
  unknown: MicroDollars;
  open: number;
  inFlight: number;
  saving: number;
  ended: number;
  /** How many endings there are: the `seq` of the last one. */
  outcomes: number;
  readonly concurrency: number;
  /** The database's clock, in ms since the epoch. */
  readonly now: number;
}

export const ledgerColumns = `cap::float8, reserved::float8, spent::float8, unknown::float8, open, in_flight as "inFlight",
  saving, ended, outcomes::float8, concurrency,
  extract(epoch from clock_timestamp())::float8 * 1000 as now`;

/** Locks a run's money and counts until the transaction ends. Each transaction that changes rows begins with it. */
export async function lockLedger(on: Transaction, run: number): Promise<LedgerRecord> {
  const text = `select ${ledgerColumns} from millrace.ledgers where run = $1 for update`;
  const [ledger] = (await on.query<LedgerRecord>(text, [run])).rows;
  if (ledger === undefined) throw new RunGone(run);
  return ledger;
}

export async function saveLedger(on: Transaction, run: number, ledger: LedgerRecord): Promise<void> {
  const { reserved, spent, unknown, open, inFlight, saving, ended, outcomes } = ledger;
  await on.query(
    `update millrace.ledgers set reserved = $2, spent = $3, unknown = $4, open = $5, in_flight = $6, saving = $7, ended = $8,
      outcomes = $9 where run = $1`,
    [run, reserved, spent, unknown, open, inFlight, saving, ended, outcomes],
  );
}

/** The run was deleted. */
export class RunGone extends Error {
  constructor(run: number) {
    super(`The database has no run ${run} any more.`);
  }
}

/** A price that the service has reported. */
export interface ReportedPrice extends Priced {
  readonly cost: MicroDollars;
}

/** Saves them in one fixed order, so that no two transactions wait for each other. */
export async function savePrices(
  on: Transaction,
  run: number,
  prices: readonly ReportedPrice[],
): Promise<void> {
  const highest = new Map<string, ReportedPrice>();
  for (const price of prices) {
    const key = JSON.stringify([price.kind, price.endpoint, price.resolution ?? '']);
    if (price.cost > (highest.get(key)?.cost ?? -1)) highest.set(key, price);
  }
  for (const [, { kind, endpoint, resolution = '', cost }] of [...highest].sort())
    await on.query(
      `insert into millrace.prices (run, kind, endpoint, resolution, highest) values ($1, $2, $3, $4, $5)
       on conflict (run, kind, endpoint, resolution) do update set highest = excluded.highest
         where prices.highest < excluded.highest`,
      [run, kind, endpoint, resolution, cost],
    );
}
