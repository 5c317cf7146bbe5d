import { recommendedImages } from '../../../src/contract/limits.js';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { ColumnTally } from './columns/column-tally.js';
import { isBought, type InvalidRow, type ManifestItem, type Row, type RowKind } from './manifest-row.js';
import { ProblemTally, type InvalidProblem } from './problem-tally.js';
import { SameRequests, SameTally, type SameRows } from './duplicates/same-requests.js';

/** What a manifest holds, before anything is sent. */
export interface Plan {
  /** All rows, the invalid ones among them. */
  readonly rows: number;
  /** Valid rows, by kind. */
  readonly byKind: Readonly<Record<RowKind, number>>;
  /** Valid edits, by the resolution that is priced. */
  readonly byResolution: Readonly<Record<string, number>>;
  /** Rows without an id whose request stood before: each is sent, and paid, again. */
  readonly repeats: number;
  readonly invalid: number;
  readonly firstInvalid: readonly InvalidRow[];
  /** What is wrong with invalid rows, each kind of problem once: the first 100 kinds. */
  readonly problems: readonly InvalidProblem[];
  /** Problems of other kinds. */
  readonly otherProblems: number;
  /** One sentence each, for people. */
  readonly warnings: readonly string[];
  /** What separates the columns of a CSV, where it is no comma. */
  readonly separatedBy?: string;
  readonly columnsSent: readonly string[];
  readonly columnsNotSent: readonly string[];
  /** Edits with more reference pictures than recommended. (spec 2.5) */
  readonly imagesBeyondRecommended: number;
  readonly cost: {
    readonly estimated: MicroDollars;
    /** Rows that will be bought at a price that nobody knows. */
    readonly unpriced: number;
  };
  /** Rows that ask for the same under different ids. Absent: the manifest was read once, and they were not looked for. */
  readonly same?: SameRows;
}

export interface PlanOptions {
  /** The price of a row, `null` when it is not known. */
  readonly priceOf: (row: Row) => MicroDollars | null;
  /** So many invalid rows are kept in full. @defaultValue 20 */
  readonly maxInvalidShown?: number;
  /** Told of every row, in order; what it throws ends the pass. */
  readonly see?: (item: ManifestItem) => void;
  /** What separates the columns of a CSV, where it is no comma; asked at the end. */
  readonly separatedBy?: () => string | undefined;
  /** Reads the manifest from its beginning: a second time, and only where rows may ask for the same. */
  readonly again?: () => AsyncIterable<ManifestItem>;
  /** Told of every valid row of that second pass, with the line of the first row that asks for the same; 0: none does. */
  readonly seeAgain?: (row: Row, sameAsLine: number) => void;
}

/** Reads a manifest to its end, in flat memory, and says what it would send and cost. Sends nothing. */
export async function planManifest(items: AsyncIterable<ManifestItem>, options: PlanOptions): Promise<Plan> {
  const tally = new Tally(options);
  for await (const item of items) {
    options.see?.(item);
    if (item.valid) tally.add(item.row);
    else tally.addInvalid(item.row);
  }
  const separatedBy = options.separatedBy?.();
  return {
    ...tally.plan(),
    ...(separatedBy !== undefined && { separatedBy }),
    ...(options.again && { same: await sameRows(tally.requests, options) }),
  };
}

/** Counts and prices the rows that ask for the same. */
async function sameRows(
  requests: SameRequests,
  { again, seeAgain, priceOf }: PlanOptions,
): Promise<SameRows> {
  const tally = new SameTally();
  if (again === undefined || !requests.needsSecondPass()) return tally.told();
  for await (const { valid, row } of again()) {
    if (!valid) continue;
    const line = requests.lineBefore(row);
    if (line > 0) tally.add(row, line, priceOf(row));
    seeAgain?.(row, line);
  }
  return tally.told();
}

class Tally {
  readonly #options: PlanOptions & { readonly maxInvalidShown: number };
  readonly #byKind = { edit: 0, job: 0, route: 0 };
  readonly #byResolution: Record<string, number> = {};
  readonly #columns = new ColumnTally();
  readonly requests = new SameRequests();
  readonly #firstInvalid: InvalidRow[] = [];
  readonly #problems = new ProblemTally();
  #invalid = 0;
  #repeats = 0;
  #manyImages = 0;
  #estimated = 0;
  #unpriced = 0;

  constructor(options: PlanOptions) {
    this.#options = { maxInvalidShown: 20, ...options };
  }

  add(row: Row): void {
    this.#byKind[row.kind]++;
    if (row.resolution !== undefined)
      this.#byResolution[row.resolution] = (this.#byResolution[row.resolution] ?? 0) + 1;
    if (row.repeat !== undefined) this.#repeats++;
    if (row.request.kind === 'edit' && row.request.input.images.length > recommendedImages)
      this.#manyImages++;
    this.#columns.add(row.columnUse);
    if (this.#options.again !== undefined) this.requests.note(row);
    if (isBought(row)) this.#addPrice(this.#options.priceOf(row));
  }

  addInvalid(row: InvalidRow): void {
    this.#invalid++;
    this.#problems.add(row);
    this.#columns.addOwn(row.ownColumns);
    if (this.#firstInvalid.length < this.#options.maxInvalidShown) this.#firstInvalid.push(row);
  }

  plan(): Plan {
    const { edit, job, route } = this.#byKind;
    return {
      rows: edit + job + route + this.#invalid,
      byKind: this.#byKind,
      byResolution: this.#byResolution,
      repeats: this.#repeats,
      invalid: this.#invalid,
      firstInvalid: this.#firstInvalid,
      ...this.#problems.told(),
      ...this.#columns.told(),
      imagesBeyondRecommended: this.#manyImages,
      cost: { estimated: this.#estimated, unpriced: this.#unpriced },
    };
  }

  #addPrice(price: MicroDollars | null): void {
    if (price === null) this.#unpriced++;
    else this.#estimated += price;
  }
}
