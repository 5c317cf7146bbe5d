import { IdBook, type IdKeeper } from '../duplicates/id-book.js';
import { ManifestError } from '../manifest-error.js';
import type { ManifestSettings } from '../manifest-settings.js';
import { quoteValue } from '../quote-value.js';
import type { LeftOutBefore } from '../records/manifest-sections.js';
import type { RawRecord } from '../records/raw-record.js';
import { requestHash } from '../request-hash.js';
import { HashedRow } from './hashed-row.js';
import {
  type ColumnUse,
  type ManifestItem,
  type Row,
  type RowMode,
  type RowProblem,
} from '../manifest-row.js';
import { editInputCheck } from './check-edit-input.js';
import type { ColumnLayout } from '../columns/column-layout.js';
import { FailureColumns, readPrior, type PriorFailure, unescapeFormulas } from './prior-failure.js';
import { fixedCells, type SetCells } from '../columns/fixed-cells.js';
import { LayoutBook, type KnownColumns } from '../columns/layout-book.js';
import { misspeltText } from '../columns/misspelt-columns.js';
import { fillSet } from './fill-set.js';
import { Problems, RowCells } from './row-cells.js';
import { RowMatrix } from '../matrix/row-matrix.js';
import { readDamage } from './read-damage.js';
import { rememberImages } from './row-images.js';
import { withRedoneAxes } from '../matrix/redo-columns.js';
import {
  modeOf,
  productId,
  rowId,
  rowKind,
  rowMeaning,
  rowPriority,
  rowProduct,
  unusedAxes,
  type MeaningRules,
  type RowMeaning,
} from './row-meaning.js';

/** A line that is not yet a row. */
interface Draft {
  readonly record: RawRecord;
  readonly row: number;
  readonly problems: Problems;
  /** The row's own id, if it has one and no other row has it. */
  readonly id?: string | undefined;
  readonly priority?: number | undefined;
  readonly ownColumns: readonly string[];
}

/** The cells of a line, and the columns that filled texts of `--set`. */
interface ReadCells {
  readonly cells: RowCells;
  readonly used: ReadonlySet<string>;
}

const nothing: ReadonlySet<string> = new Set();

/** A valid line with its meaning. */
interface ReadRow {
  readonly meaning: RowMeaning;
  readonly columns: KnownColumns;
  readonly prior: PriorFailure | undefined;
  /** The columns that filled texts of `--set`. */
  readonly used: ReadonlySet<string>;
  readonly notes: Row['notes'];
}

/** Creates the rows of one manifest from its lines, in order. It counts them and keeps their ids unique. */
export class RowBuilder {
  readonly #settings: ManifestSettings;
  readonly #fixed: SetCells;
  readonly #layouts: LayoutBook;
  readonly #ids: IdKeeper;
  readonly #before: LeftOutBefore | undefined;
  readonly #rules: MeaningRules;
  readonly #failureColumns = new FailureColumns();
  readonly #modes = new Map<string, RowMode>();
  readonly #matrix: RowMatrix | undefined;
  #rows = 0;
  /** The first of the rows without an id that `--repeat` makes of one line. */
  #repeated: { readonly id: string; readonly repeat: number } | undefined;

  /**
   * @param ids @defaultValue each id may stand once in the manifest
   * @param before lines that were left out @defaultValue none
   */
  constructor(settings: ManifestSettings, ids: IdKeeper = new IdBook(), before?: LeftOutBefore) {
    this.#settings = settings;
    this.#ids = ids;
    this.#before = before;
    this.#fixed = fixedCells(settings);
    this.#matrix = RowMatrix.of(settings);
    this.#layouts = new LayoutBook(settings.map, { fixed: this.#fixed, ignore: settings.ignore ?? [] });
    const { endpoint, editEndpoint, endpoints = {}, kind, pictures, resolveImage } = settings;
    for (const { id, mode } of Object.values(endpoints)) if (mode !== undefined) this.#modes.set(id, mode);
    const endpointIds = new Map(Object.entries(endpoints).map(([name, { id }]) => [name, id]));
    const remembered = resolveImage && rememberImages(resolveImage);
    this.#rules = {
      endpoint,
      editEndpoint,
      endpointIds,
      kind,
      ...(pictures && { pictures }),
      resolveImage: remembered,
      checkEdit: editInputCheck(),
    };
  }

  /** The rows of these lines, each created when it is pulled. */
  *rowsOf(lines: Iterable<RawRecord>): Generator<ManifestItem> {
    for (const raw of lines) {
      const numbered = this.#before === undefined ? raw : this.#numbered(raw, this.#before);
      const record = this.#settings.format === 'csv' ? this.#failureColumns.fold(numbered) : numbered;
      if (this.#matrix === undefined) yield this.#build(record);
      else
        for (const product of this.#matrix.expand(record, this.#layouts.of(record.names)))
          yield this.#build(product);
    }
  }

  /** Corrects the line's number, and the count of rows, for those that were skipped. */
  #numbered(raw: RawRecord, before: LeftOutBefore): RawRecord {
    this.#rows += before.rowsAt(raw.line);
    return { ...raw, line: raw.line + before.lines };
  }

  #build(record: RawRecord): ManifestItem {
    const row = ++this.#rows;
    const problems = new Problems();
    const layout = this.#layouts.of(record.names);
    const broken = record.problem ?? layout.problem;
    if (broken !== undefined) {
      problems.found.push(broken);
      return this.#invalid({ record, row, problems, ownColumns: [] }, rawCells(record));
    }
    const { cells, used } = this.#cellsOf(record, layout, problems);
    const isFilled = problems.found.length === 0;
    const id = this.#claimId(cells, record, problems);
    if (record.clash !== undefined) problems.found.push(record.clash);
    const priority = rowPriority(cells, problems);
    const prior = layout.at.error < 0 && layout.at.millrace < 0 ? undefined : readPrior(cells, problems);
    // If a text of `--set` cannot be filled, only that is reported, and not that its field is missing.
    const meaning = isFilled ? rowMeaning(cells, problems, prior, this.#rules) : undefined;
    const draft = { record, row, problems, id, priority, ownColumns: layout.ownNames };
    const columns = meaning && this.#layouts.columnsFor(meaning.purpose, layout);
    const rules = { isCsv: this.#settings.format === 'csv', sent: columns?.use.sent, used, prior };
    const notes = readDamage(cells, problems, rules);
    if (meaning === undefined || columns === undefined) return this.#invalid(draft, cells.all());
    if (columns.misspelt.length > 0) return this.#misspelt(draft, cells, columns.misspelt);
    if (meaning.jobId !== undefined && problems.found.length === 0) this.#claimJob(meaning, cells, draft);
    if (problems.found.length === 0 && record.product !== undefined)
      problems.found.push(...unusedAxes(record.product, { layout, foreign: columns.foreign, used }));
    if (problems.found.length > 0) return this.#invalid(draft, cells.all());
    return { valid: true, row: this.#valid(draft, cells, { meaning, columns, prior, used, notes }) };
  }

  #cellsOf(record: RawRecord, layout: ColumnLayout, problems: Problems): ReadCells {
    const { format, kind } = this.#settings;
    const { millrace } = layout.at;
    const fromFailures = format === 'csv' && millrace >= 0 && Boolean(record.values[millrace]);
    const values = fromFailures ? unescapeFormulas(record.values) : record.values;
    const cells = new RowCells(values, layout, this.#fixed, format);
    if (this.#fixed.templates.length === 0) return { cells, used: nothing };
    const found = cells.get('jobId') === undefined ? rowKind(cells, kind) : { kind: 'collect' as const };
    const row = { values, layout, format, purpose: 'kind' in found ? found.kind : undefined };
    const { fixed, used } = fillSet(this.#fixed, row, cells, problems);
    return { cells: new RowCells(values, layout, fixed, format), used };
  }

  #claimId(cells: RowCells, { line, product }: RawRecord, problems: Problems): string | undefined {
    const own = rowId(cells.get('id'));
    const found = product === undefined ? own : productId(own, product);
    if ('problem' in found) return problems.add(cells.label('id'), found.problem);
    if (found.id === undefined) return undefined;
    const holder = this.#ids.claim(found.id, line);
    if (holder === 0) return found.id;
    return problems.add(
      cells.label('id'),
      `${quoteValue(found.id)} is the id of line ${holder} too; each row needs its own`,
    );
  }

  /**
   * Refuses misspelt columns: in a CSV with an error, because all rows have the same columns; in JSONL as a problem of the row.
   * @throws {ManifestError}
   */
  #misspelt(draft: Draft, cells: RowCells, misspelt: readonly RowProblem[]): ManifestItem {
    const { name, format } = this.#settings;
    const { layout } = cells;
    if (format === 'csv') throw new ManifestError(name, misspeltText(misspelt, layout));
    draft.problems.found.push(...misspelt);
    const isOwn = (column: string): boolean => misspelt.every((problem) => problem.column !== column);
    return this.#invalid({ ...draft, ownColumns: layout.ownNames.filter(isOwn) }, cells.all());
  }

  /** A job has one result, so only one row may collect it. */
  #claimJob({ endpoint, jobId = '' }: RowMeaning, cells: RowCells, { record, problems }: Draft): void {
    const holder = this.#ids.claimJob(endpoint, jobId, record.line);
    if (holder === 0) return;
    const message = `${quoteValue(jobId)} is the job that line ${holder} collects too; leave one of the rows`;
    problems.add(cells.label('jobId'), message);
  }

  #valid(draft: Draft, cells: RowCells, { meaning, columns, prior, used, notes }: ReadRow): HashedRow {
    const { record, row } = draft;
    const { kind, endpoint, request, written, resolution, jobId } = meaning;
    const { use, foreign } = columns;
    const { isRedone } = cells.layout;
    const misplaced = foreign.length === 0 ? foreign : foreign.filter(({ at }) => cells.isFilled(at));
    const derived = draft.id === undefined ? this.#derive(meaning, record) : undefined;
    return new HashedRow({
      id: draft.id ?? derived?.id ?? '',
      row,
      line: record.line,
      kind,
      endpoint,
      request,
      written,
      resolution,
      priority: draft.priority,
      mode: modeOf(meaning, this.#settings.mode ?? this.#modes.get(endpoint)),
      cells:
        draft.id === undefined || record.product === undefined
          ? cells.all()
          : { ...cells.all(), id: draft.id },
      columns: record.product
        ? { ...cells.own(misplaced), ...record.product.axes }
        : isRedone
          ? withRedoneAxes(cells.own(misplaced))
          : cells.own(misplaced),
      // Usually the object that all rows with these columns share.
      columnUse: misplaced.length === 0 && used.size === 0 ? use : useOf(use, misplaced, used),
      jobId,
      product: record.product && rowProduct(record.product, rowId(cells.get('id'))),
      repeat: derived?.repeat === 1 ? undefined : derived?.repeat,
      hash: derived?.hash,
      prior: prior?.failure,
      notes,
    });
  }

  #derive(
    { kind, endpoint, written }: RowMeaning,
    { line, product }: RawRecord,
  ): { id: string; repeat: number; hash: string } {
    const hash = requestHash({ kind, endpoint, request: written });
    const number = product?.repeat ?? 1;
    if (number > 1 && this.#repeated !== undefined) {
      const id = `${this.#repeated.id}.repeat-${number}`;
      if (this.#ids.claim(id, line) === 0) return { id, repeat: this.#repeated.repeat, hash };
    }
    const derived = this.#ids.derive(hash, line);
    this.#repeated = derived;
    return { ...derived, hash };
  }

  #invalid({ record, row, problems, id, ownColumns }: Draft, cells: Record<string, unknown>): ManifestItem {
    const { line, values } = record;
    const given = id ?? givenId(cells);
    const key =
      id ?? this.#ids.derive(requestHash({ kind: 'invalid', endpoint: '', request: values }), line).id;
    return {
      valid: false,
      row: {
        row,
        line,
        key,
        ...(given !== undefined && { id: given }),
        problems: problems.found,
        ownColumns,
        cells,
      },
    };
  }
}

/** The use of a row's columns if it differs from that of other rows with these columns. */
function useOf(
  use: ColumnUse,
  misplaced: readonly { readonly name: string }[],
  used: ReadonlySet<string>,
): ColumnUse {
  const isUsed = (name: string): boolean =>
    used.has(name) || [...used].some((place) => place.startsWith(`${name}.`));
  return { ...use, misplaced: misplaced.map(({ name }) => name), filledIn: use.own.filter(isUsed) };
}

/** The cells of a row in its failure. A wrongly split line has none: as a line of failures.jsonl it must not be valid. */
function rawCells({ problem, names, values }: RawRecord): Record<string, unknown> {
  return problem === undefined ? Object.fromEntries(names.map((name, at) => [name, values[at]])) : {};
}

/** The id for messages, even if another row has it. */
function givenId(cells: Record<string, unknown>): string | undefined {
  const found = rowId(cells['id']);
  return 'id' in found && found.id !== '' ? found.id : undefined;
}
