import { databaseOfStart } from './elsewhere.js';
import { decodeRecord } from './line/record-line.js';
import type { HeadScanner } from './line/head-scanner.js';
import { newerFormat, unknownKind } from './journal-error.js';
import type { Recovered } from './journal.js';
import { journalFormat, type RecordOf } from './record.js';
import type { Column } from './rows/column.js';
import { RowLives } from './rows/row-lives.js';
import { RowStates } from './rows/row-states.js';
import { withAxes, type AskedAxis } from '../manifest/matrix/asked-axes.js';
import { isPending } from '../row/row-status.js';
import { rowFlags, RowTable, type HeldBefore } from './rows/row-table.js';
import {
  type KeptTally,
  costByInForce,
  noCostBy,
  trackedColumns,
  type CostByChoices,
} from '../row/totals.js';

/** Number of records between two entries of `recordStarts`. */
export const recordsAStart = 4_096;

type RunFacts = ReturnType<typeof noFacts>;

/** The facts about the run as a whole before the first record: see `Recovered`. */
function noFacts() {
  return {
    records: 0,
    /** The byte at which every n-th record begins, so that a later pass can start near its first record. */
    recordStarts: [] as number[],
    starts: 0,
    repairs: 0,
    identity: undefined as Recovered['identity'],
    firstStartAt: undefined as number | undefined,
    lastStartAt: undefined as number | undefined,
    lastStop: undefined as Recovered['lastStop'],
    ledgerFile: undefined as string | undefined,
    database: undefined as Recovered['database'],
    heldUpToRow: undefined as number | undefined,
    manifests: [] as readonly string[],
    capUsd: undefined as number | null | undefined,
    costBy: noCostBy,
    axes: [] as readonly AskedAxis[],
    saveOutput: [] as readonly string[],
  };
}

/** The values of a recovery outside of its table, as plain JSON. */
export interface KeptRecovery extends RunFacts {
  readonly rows: number;
  readonly jobs: number;
  readonly lastRow: number;
  readonly replaced: readonly (readonly [row: number, contents: number[]])[];
  readonly heldBefore: readonly (readonly [row: number, purchases: HeldBefore[]])[];
  readonly tally: KeptTally;
}

/** The state that the records read so far lead to; has the data of `Recovered`. */
export class Recovery {
  readonly table = new RowTable();
  readonly rows = new RowStates(this.table);
  readonly lives = new RowLives(this.table);
  facts: RunFacts = noFacts();
  /** True while `finish` has changed nothing: the state follows from the records only, and more records may be added. */
  isPlain = true;
  /** The columns were given by the caller for all records, whatever the records say. */
  isGivenColumns = false;

  /** Adds a record that begins at `offset` of the file, given its head. */
  take(head: HeadScanner, offset: number): void {
    if (this.facts.records % recordsAStart === 0) this.facts.recordStarts.push(offset);
    this.facts.records++;
    if (head.hasId) this.lives.take(head.kind, head, offset);
    else this.takeRun(head.line);
  }

  /** Reopens rows whose intent is lost; `mustHold` keeps them from being bought. */
  finish(): void {
    for (let row = 0; row < this.table.ids.length; row++) {
      if (!isPending(this.lives.statusAt(row)) || this.table.intentAt.get(row) !== 0) continue;
      this.lives.open(row);
      this.table.setFlag(row, rowFlags.beforeRepair, true);
      this.facts.heldUpToRow ??= 0;
      this.isPlain = false;
    }
  }

  get kept(): KeptRecovery {
    const { facts, table, lives } = this;
    return {
      ...facts,
      rows: table.ids.length,
      jobs: lives.jobs.index.length,
      lastRow: lives.lastRow,
      replaced: [...table.replaced],
      heldBefore: [...table.heldBefore],
      tally: lives.tally.kept,
    };
  }

  /** All typed arrays, each with the number of entries in use, now or in a snapshot that was `kept`. */
  columns(
    { rows, jobs }: Pick<KeptRecovery, 'rows' | 'jobs'> = this.kept,
  ): readonly (readonly [Column, number])[] {
    const { table, lives } = this;
    return [
      ...table.columns.map((column) => [column, rows] as const),
      ...lives.jobs.index.columns.map((column) => [column, jobs] as const),
    ];
  }

  /** Continues from what was `kept`, once the table's columns are filled. */
  restore({ rows, jobs, lastRow, replaced, heldBefore, tally, ...facts }: KeptRecovery): void {
    this.facts = facts;
    this.table.ids.reopen(rows);
    this.lives.jobs.index.reopen(jobs);
    this.lives.lastRow = lastRow;
    for (const [row, contents] of replaced) this.table.replaced.set(row, contents);
    for (const [row, purchases] of heldBefore) this.table.heldBefore.set(row, purchases);
    this.lives.tally.restore(tally);
  }

  /**
   * The columns by which this start adds up, if they differ from those used while reading: then the records must be
   * read again.
   */
  otherColumns(choices: CostByChoices): readonly string[] | undefined {
    const wanted = trackedColumns(costByInForce(choices, this.facts.costBy));
    return JSON.stringify(wanted) === JSON.stringify(this.lives.tally.kept.columns) ? undefined : wanted;
  }

  /** See `Recovered.mustHold`. */
  readonly mustHold = (id: string, row: number): boolean => {
    const { heldUpToRow } = this.facts;
    if (heldUpToRow === undefined) return false;
    const index = this.rows.indexOf(id);
    if (index < 0) return row <= heldUpToRow;
    return this.table.hasFlag(index, rowFlags.beforeRepair) && this.lives.statusAt(index) !== 'completed';
  };

  private takeRun(line: Buffer): void {
    const { record } = decodeRecord(line);
    switch (record.k) {
      case 'start':
        return this.takeStart(record, line);
      case 'stop':
        this.facts.lastStop = { at: record.at, exitCode: record.exitCode };
        return;
      case 'cap':
        this.facts.capUsd = record.usd;
        return;
      case 'cost-by':
        return this.takeCostBy(record);
      case 'save-output':
        this.facts.saveOutput = record.paths;
        return;
      case 'repaired':
        return this.takeRepair(record);
      default:
        throw unknownKind(record.k);
    }
  }

  /** In a new run the columns are known before the first row. */
  private takeCostBy({ columns, capsUsd }: RecordOf<'cost-by'>): void {
    const costBy = (this.facts.costBy = { columns, capsUsd });
    if (this.table.ids.length === 0 && !this.isGivenColumns)
      this.lives.tally.columns = trackedColumns(costBy);
  }

  private takeStart(record: RecordOf<'start'>, line: Buffer): void {
    const { format } = JSON.parse(line.toString()) as { format?: number };
    if (format !== undefined && format > journalFormat) throw newerFormat(format);
    const { facts } = this;
    const { identity, at, manifest, settings } = record;
    facts.starts++;
    facts.identity = identity;
    facts.firstStartAt ??= at;
    facts.lastStartAt = at;
    facts.lastStop = undefined;
    if (!facts.manifests.includes(manifest)) facts.manifests = [...facts.manifests, manifest];
    facts.database = databaseOfStart(settings);
    const { ledgerFile, axes } = settings;
    facts.axes = withAxes(facts.axes, axes);
    if (typeof ledgerFile === 'string') facts.ledgerFile = ledgerFile;
  }

  private takeRepair({ missing, heldUpToRow }: RecordOf<'repaired'>): void {
    this.facts.repairs++;
    if (missing === 0) return;
    this.facts.heldUpToRow = Math.max(this.facts.heldUpToRow ?? 0, heldUpToRow);
    for (let row = 0; row < this.table.ids.length; row++)
      this.table.setFlag(row, rowFlags.beforeRepair, true);
  }
}
