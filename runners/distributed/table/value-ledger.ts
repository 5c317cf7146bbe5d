import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { ValueCaps, type CappedValue } from '../../batch/ledger/value-caps.js';
import type { RowTask } from '../../batch/row/row-after.js';
import type { Transaction } from '../database/transaction.js';

interface Change {
  readonly place: number;
  readonly value: string;
  taken: MicroDollars;
  refused: number;
}

/**
 * Reserved, spent and unknown money for each value of the columns with caps, changed by a transaction that has locked
 * the run's ledger. A run without such caps sends no query.
 */
export class ValueLedger {
  private readonly caps: ValueCaps;
  private readonly changes = new Map<string, Change>();
  /** The sums in the table plus what this transaction has added. */
  private readonly taken = new Map<string, MicroDollars>();
  /** The values of rows, by the rows' names in the queue. */
  private readonly rows = new Map<string, readonly string[]>();

  /** @param capsUsd by column; `undefined`: there is none */
  constructor(
    private readonly on: Transaction,
    private readonly run: number,
    private readonly capsUsd: Readonly<Record<string, number>> | undefined,
  ) {
    this.caps = new ValueCaps({ capsUsd: capsUsd ?? {} });
  }

  get isUsed(): boolean {
    return this.capsUsd !== undefined;
  }

  note(rows: readonly { readonly item: string; readonly task: Pick<RowTask, 'row'> }[]): void {
    if (this.isUsed) for (const { item, task } of rows) this.rows.set(item, this.caps.valuesOf(task.row));
  }

  /** Reads the values of rows from the table. */
  async read(items: readonly string[]): Promise<void> {
    if (!this.isUsed || items.length === 0) return;
    const { rows } = await this.on.query<{ item: string; task: string }>(
      'select item, task from millrace.rows where run = $1 and item = any($2::uuid[])',
      [this.run, items],
    );
    this.note(rows.map(({ item, task }) => ({ item, task: JSON.parse(task) as RowTask })));
  }

  /** Reads the money taken for the values of these rows. Call it before `full`. */
  async look(items: readonly string[]): Promise<void> {
    const wanted = new Map<string, readonly [place: number, value: string]>();
    for (const item of items)
      for (const [place, value] of (this.rows.get(item) ?? []).entries())
        if (!this.taken.has(nameOf(place, value))) wanted.set(nameOf(place, value), [place, value]);
    if (wanted.size === 0) return;
    const { rows: found } = await this.on.query<{ place: number; value: string; taken: number }>(
      `select place, value, taken::float8 from millrace.value_ledgers join unnest($2::int[], $3::text[]) as wanted (place, value)
       using (place, value) where run = $1`,
      [
        this.run,
        [...wanted.values()].map(([place]) => place),
        [...wanted.values()].map(([, value]) => JSON.stringify(value)),
      ],
    );
    for (const [name] of wanted) this.taken.set(name, this.changes.get(name)?.taken ?? 0);
    for (const { place, value, taken } of found) {
      const name = nameOf(place, JSON.parse(value) as string);
      this.taken.set(name, (this.taken.get(name) ?? 0) + taken);
    }
  }

  /** The first value of the row whose cap has no room for the price; counts the row as skipped for it. */
  full(item: string, price: MicroDollars | null): CappedValue | undefined {
    const takenFor = (place: number, value: string) => this.taken.get(nameOf(place, value)) ?? 0;
    const full = this.isUsed ? this.caps.full(this.rows.get(item) ?? [], price, takenFor) : undefined;
    if (full !== undefined)
      this.changeOf(Object.keys(this.capsUsd ?? {}).indexOf(full.column), full.value).refused += 1;
    return full;
  }

  /** Adds money to the values of a row. */
  add(item: string, amount: MicroDollars): void {
    if (amount === 0) return;
    for (const [place, value] of (this.rows.get(item) ?? []).entries()) {
      this.begin(place, value, amount);
      const name = nameOf(place, value);
      const known = this.taken.get(name);
      if (known !== undefined) this.taken.set(name, known + amount);
    }
  }

  /** Sets the money that was taken before the start, for a value of the column at this place. */
  begin(place: number, value: string, amount: MicroDollars): void {
    this.changeOf(place, value).taken += amount;
  }

  /** Writes the changes of the transaction. */
  async save(): Promise<void> {
    const changes = [...this.changes.values()].filter(({ taken, refused }) => taken !== 0 || refused > 0);
    if (changes.length === 0) return;
    await this.on.query(
      `insert into millrace.value_ledgers (run, place, value, taken, refused)
       select $1, place, value, taken, refused
       from unnest($2::int[], $3::text[], $4::bigint[], $5::int[]) as new (place, value, taken, refused)
       on conflict (run, place, value) do update
       set taken = value_ledgers.taken + excluded.taken, refused = value_ledgers.refused + excluded.refused`,
      [
        this.run,
        changes.map(({ place }) => place),
        changes.map(({ value }) => JSON.stringify(value)),
        changes.map(({ taken }) => taken),
        changes.map(({ refused }) => refused),
      ],
    );
  }

  private changeOf(place: number, value: string): Change {
    const name = nameOf(place, value);
    const change = this.changes.get(name) ?? { place, value, taken: 0, refused: 0 };
    this.changes.set(name, change);
    return change;
  }
}

function nameOf(place: number, value: string): string {
  return `${place} ${value}`;
}

/** Replaces the caps and sums of the previous start by those of this one. */
export async function resetValueLedger(
  on: Transaction,
  run: number,
  capsUsd: Readonly<Record<string, number>> | undefined,
  taken: ReadonlyMap<string, ReadonlyMap<string, MicroDollars>>,
): Promise<void> {
  await on.query('delete from millrace.value_ledgers where run = $1', [run]);
  const text = capsUsd === undefined ? null : JSON.stringify(capsUsd);
  await on.query('update millrace.ledgers set value_caps = $2 where run = $1', [run, text]);
  const ledger = new ValueLedger(on, run, capsUsd);
  for (const [place, column] of Object.keys(capsUsd ?? {}).entries())
    for (const [value, amount] of taken.get(column) ?? []) ledger.begin(place, value, amount);
  await ledger.save();
}
