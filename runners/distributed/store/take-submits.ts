import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { fitsUnderCap } from '../../batch/ledger/ledger.js';
import type { PriceBook } from '../../batch/ledger/price-book.js';
import { pricedOf } from '../../batch/row/costs.js';
import { stopCauses, whyDrifted } from '../../batch/stop/stop-causes.js';
import type { StopCause } from '../../batch/stop/stops.js';
import type { RowFacts } from '../../batch/row/task.js';
import { inTransaction, type Database, type Transaction } from '../records/database.js';
import { lockGate, saveGate, afterTurns, turnsAt } from '../records/gate-record.js';
import { fetchItems } from '../records/work-queue.js';
import type { ReportedPrice } from '../records/ledger-record.js';
import { lockRows, readFacts, type RowRecord } from '../records/row-record.js';
import { RunChange } from '../records/run-change.js';
import { stopRun } from '../records/run-record.js';

/** A row whose intent is committed, to be sent now. */
export interface TakenRow {
  readonly row: RowRecord;
  readonly facts: RowFacts;
  /** Ms until its turn at the gate. */
  readonly sendInMs: number;
}

export interface TakeOptions {
  readonly worker: string;
  readonly most: number;
  readonly book: PriceBook;
  readonly maxPriceDriftPercent: number | undefined;
}

/** Turns further away than this many ms are left to others, above all to polls. */
const horizonMs = 250;

/**
 * Takes rows to be sent, in one transaction: for each its work item, a slot, a turn at the gate, its reserved price and its
 * intent. The first row that does not fit under the cap stops the run.
 */
export async function takeSubmits(
  database: Database,
  run: number,
  options: TakeOptions,
): Promise<readonly TakenRow[]> {
  return inTransaction(database.pool, async (on) => {
    const change = await RunChange.begin(database, on, run);
    const { ledger } = change;
    const free = Math.min(options.most, ledger.concurrency - ledger.inFlight, ledger.open);
    if (free < 1) return [];
    const gate = await lockGate(on, run);
    const { isStopped, blocked, prices } = await readRules(on, run);
    if (isStopped) return [];
    const turns = turnsAt(gate, free, horizonMs);
    const fetched = await fetchItems(database.boss, on, { run, kind: 'submit' }, turns.count);
    if (fetched.length === 0) return [];
    for (const { kind, endpoint, resolution, cost } of prices)
      options.book.observe({ kind, endpoint, ...(resolution !== '' && { resolution }) }, cost);
    const rows = await lockRows(on, run, { items: fetched.map(({ item }) => item) });
    for (const { item } of fetched) change.drop('submit', item);
    const sent = await intend(change, rows, blocked, options);
    if (gate.rate !== null || gate.recovering)
      await saveGate(on, run, afterTurns(gate, { ...turns, count: sent.length }));
    const facts = await readFacts(
      on,
      run,
      sent.map(({ key }) => key),
    );
    await change.save();
    return sent.flatMap((row, place) => {
      const known = facts.get(row.key);
      const sendInMs = turns.firstInMs + place * turns.everyMs;
      return known === undefined ? [] : [{ row, facts: known, sendInMs }];
    });
  });
}

interface Rules {
  readonly isStopped: boolean;
  readonly blocked: Readonly<Record<string, string>>;
  readonly prices: readonly (ReportedPrice & { readonly resolution: string })[];
}

/** The rules that a row is checked against before it is sent. */
async function readRules(on: Transaction, run: number): Promise<Rules> {
  const text = `select stop is not null as "isStopped", blocked,
      (select coalesce(json_agg(json_build_object('kind', kind, 'endpoint', endpoint, 'resolution', resolution,
        'cost', highest)), '[]') from millrace.prices p where p.run = r.run) as prices
    from millrace.runs r where run = $1`;
  const [rules] = (await on.query<Rules>(text, [run])).rows;
  return rules ?? { isStopped: true, blocked: {}, prices: [] };
}

async function intend(
  change: RunChange,
  rows: readonly RowRecord[],
  blocked: Rules['blocked'],
  options: TakeOptions,
): Promise<RowRecord[]> {
  const { on, run, ledger } = change;
  const sent: RowRecord[] = [];
  let isStopped = false;
  for (const row of inManifestOrder(rows)) {
    // The item is left over from an earlier state of its row.
    if (row.state !== 'open') continue;
    if (row.brief.kind !== 'route' && Object.hasOwn(blocked, row.brief.endpoint)) {
      change.put(row, { state: 'left' });
      continue;
    }
    const price: MicroDollars | null = isStopped ? null : reserved(row, options.book);
    const cause: StopCause | undefined = isStopped ? undefined : whyNot(row, price, ledger, options);
    if (cause !== undefined) await stopRun(on, run, cause);
    isStopped ||= cause !== undefined;
    if (isStopped) change.schedule('submit', row, 0);
    else sent.push(send(change, row, price, options.worker));
  }
  return sent;
}

function send(change: RunChange, row: RowRecord, price: MicroDollars | null, worker: string): RowRecord {
  const attempt = row.attempt + 1;
  const submittedAt = change.ledger.now;
  return change.put(row, {
    state: 'sent',
    attempt,
    price,
    worker,
    submittedAt,
    jobId: null,
    lateJobId: null,
  });
}

/** The price of the list that the row was fed with, or the highest price reported since, if that is higher. */
function reserved({ brief, listed }: RowRecord, book: PriceBook): MicroDollars | null {
  if (brief.isRead) return 0;
  const price = book.priceOf(pricedOf(brief));
  return price === null || listed === null ? (price ?? listed) : Math.max(price, listed);
}

function whyNot(
  { brief }: RowRecord,
  price: MicroDollars | null,
  ledger: RunChange['ledger'],
  { book, maxPriceDriftPercent }: TakeOptions,
): StopCause | undefined {
  if (brief.isRead) return undefined;
  const { cap, spent, reserved, unknown } = ledger;
  const drift = book.driftOf(pricedOf(brief));
  const drifted = whyDrifted(brief, drift, maxPriceDriftPercent);
  if (drifted !== undefined) return drifted;
  const money = { spent, reserved, unknown, drift: 0, unpriced: 0, ...(cap !== null && { cap }) };
  return fitsUnderCap(money, price) ? undefined : stopCauses.capReached(money);
}

function inManifestOrder(rows: readonly RowRecord[]): RowRecord[] {
  return rows.toSorted((one, other) => one.brief.row - other.brief.row);
}
