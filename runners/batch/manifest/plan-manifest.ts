import { recommendedImages } from '../../../src/contract/limits.js';
import { addPrice, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import { ColumnTally, AxisTally, NoteTally, type PlannedMatrix } from './plan-tallies.js';
import { isBought, type InvalidRow, type ManifestItem, type Row, type RowKind } from './manifest-row.js';
import { ProblemTally, type InvalidProblem } from './problem-tally.js';
import { PriorityTally, type PlannedPriority } from './columns/row-priority.js';
import { SameRequests, SameTally, type SameRows } from './duplicates/same-requests.js';

/** The content and price of a manifest, before anything is sent. */
export interface Plan {
  /** All rows, including invalid ones. */
  readonly rows: number;
  /** Valid rows, by kind. */
  readonly byKind: Readonly<Record<RowKind, number>>;
  /** Valid edits, and jobs with a price per picture, by the resolution that decides the price. */
  readonly byResolution: Readonly<Record<string, number>>;
  /** Rows without an id that repeat an earlier request: each is sent and paid for again. */
  readonly repeats: number;
  /** Valid rows without an id: each gets one from its request. Absent if there are none. */
  readonly derivedIds?: number;
  readonly invalid: number;
  readonly firstInvalid: readonly InvalidRow[];
  /** The problems of invalid rows, each kind once; at most 100 kinds. */
  readonly problems: readonly InvalidProblem[];
  /** The number of problems of further kinds. */
  readonly otherProblems: number;
  /**
   * One sentence each, for people; printed by `plan`, `plan --json` and `run`. `Tally` counts them, and `Tally.plan` writes the
   * sentences.
   */
  readonly warnings: readonly string[];
  /** The name of a CSV's separator, unless it is a comma. */
  readonly separatedBy?: string;
  readonly columnsSent: readonly string[];
  readonly columnsNotSent: readonly string[];
  /** The part of these that fills texts of `--set`. Absent if there are no such texts. */
  readonly columnsFilledIn?: readonly string[];
  /** Edits with more reference pictures than recommended. (spec 2.5) */
  readonly imagesBeyondRecommended: number;
  readonly cost: {
    readonly estimated: MicroDollars;
    /** Rows to be bought at an unknown price. */
    readonly unpriced: number;
  };
  /** Rows with the same request under different ids. Absent if the manifest was read only once. */
  readonly same?: SameRows;
  /** The rows that `--each` and `--repeat` make, and the cost of each axis value. Absent if each line is one row. */
  readonly matrix?: PlannedMatrix;
  /** The rows by priority, in the order in which a run sends them. Absent if all have the same priority. */
  readonly priorities?: readonly PlannedPriority[];
}

export interface PlanSettings {
  /** The price of a row; `null` if it is not known. */
  readonly priceOf: (row: Row) => MicroDollars | null;
  /** How many invalid rows are kept in full. @defaultValue 20 */
  readonly maxInvalidShown?: number | undefined;
  /** Called with every row, in order; an error that it throws ends the pass. */
  readonly see?: (item: ManifestItem) => void;
  /** Called at the end; returns the name of a CSV's separator, unless it is a comma. */
  readonly separatedBy?: () => string | undefined;
  /** Reads the manifest again from its beginning, by the priorities that were found. Called only if rows may have the same request. */
  readonly again?: (priorities: Plan['priorities']) => AsyncIterable<ManifestItem>;
  /** Whether `see` computes the hash of each row anyway, and pictures are sent as they are written. @defaultValue false */
  readonly areHashed?: boolean;
  /** Called with every valid row of that second pass, and the line of the first row with the same request: see `SameRequests`. */
  readonly seeAgain?: (row: Row, firstLine: number) => void;
}

/** Reads a manifest to its end, in constant memory, and sums up what it would send and cost. Sends nothing. */
export async function planManifest(items: AsyncIterable<ManifestItem>, options: PlanSettings): Promise<Plan> {
  const tally = new Tally(options);
  for await (const item of items) {
    options.see?.(item);
    if (item.valid) tally.add(item.row);
    else tally.addInvalid(item.row);
  }
  const separatedBy = options.separatedBy?.();
  const plan = tally.plan();
  const again = options.again?.bind(options, plan.priorities);
  return {
    ...plan,
    ...(separatedBy !== undefined && { separatedBy }),
    ...(again && { same: await sameRows(tally.requests, again, options) }),
  };
}

async function sameRows(
  requests: SameRequests,
  again: () => AsyncIterable<ManifestItem>,
  { seeAgain, priceOf }: PlanSettings,
): Promise<SameRows> {
  const tally = new SameTally();
  if (!requests.needsSecondPass()) return tally.result();
  for await (const { valid, row } of again()) {
    if (!valid) continue;
    const line = requests.firstLine(row);
    if (line > 0 && line !== row.line) tally.add(row, line, priceOf(row));
    seeAgain?.(row, line);
  }
  return tally.result();
}

class Tally {
  readonly #options: PlanSettings & { readonly maxInvalidShown: number };
  readonly #byKind = { edit: 0, job: 0, route: 0 };
  readonly #byResolution: Record<string, number> = {};
  readonly #columns = new ColumnTally();
  readonly #notes = new NoteTally();
  readonly requests: SameRequests;
  readonly #firstInvalid: InvalidRow[] = [];
  readonly #problems = new ProblemTally();
  readonly #matrix = new AxisTally();
  readonly #priorities = new PriorityTally();
  #invalid = 0;
  #repeats = 0;
  #derivedIds = 0;
  #manyImages = 0;
  readonly #cost = { estimated: 0, unpriced: 0 };

  constructor(options: PlanSettings) {
    this.#options = { ...options, maxInvalidShown: options.maxInvalidShown ?? 20 };
    this.requests = new SameRequests(options.areHashed);
  }

  add(row: Row): void {
    this.#byKind[row.kind]++;
    if (row.resolution !== undefined)
      this.#byResolution[row.resolution] = (this.#byResolution[row.resolution] ?? 0) + 1;
    if (row.repeat !== undefined) this.#repeats++;
    const { id } = row.cells;
    if (id === undefined || id === '') this.#derivedIds++;
    if (row.request.kind === 'edit' && row.request.input.images.length > recommendedImages)
      this.#manyImages++;
    this.#columns.add(row.columnUse);
    if (row.notes !== undefined) this.#notes.add(row);
    if (this.#options.again !== undefined) this.requests.note(row);
    const price = isBought(row) ? this.#options.priceOf(row) : 0;
    addPrice(this.#cost, price);
    if (row.product !== undefined) this.#matrix.add(row.product, row.line, price);
    if (row.priority) this.#priorities.add(row.priority, price);
  }

  addInvalid(row: InvalidRow): void {
    this.#invalid++;
    this.#problems.add(row);
    this.#columns.addOwn(row.ownColumns);
    if (this.#firstInvalid.length < this.#options.maxInvalidShown) this.#firstInvalid.push(row);
  }

  plan(): Plan {
    const { edit, job, route } = this.#byKind;
    const { warnings, ...columns } = this.#columns.result();
    const rows = edit + job + route;
    const matrix = this.#matrix.result(rows);
    const priorities = this.#priorities.result({ rows, ...this.#cost }, this.#invalid);
    return {
      rows: rows + this.#invalid,
      byKind: this.#byKind,
      byResolution: this.#byResolution,
      repeats: this.#repeats,
      ...(this.#derivedIds > 0 && { derivedIds: this.#derivedIds }),
      invalid: this.#invalid,
      firstInvalid: this.#firstInvalid,
      ...this.#problems.result(),
      ...columns,
      warnings: [...warnings, ...this.#notes.result()],
      imagesBeyondRecommended: this.#manyImages,
      ...(matrix && { matrix }),
      ...(priorities && { priorities }),
      cost: this.#cost,
    };
  }
}
