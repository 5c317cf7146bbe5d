import type { ImageEditInput } from '../../../../src/contract/image-edit.js';
import { checkHttpUrl } from '../../../../src/contract/request-parts.js';
import { maxImages } from '../../../../src/contract/limits.js';
import type { RowKind } from '../manifest-row.js';
import { parseJson } from '../parse-json.js';
import { quoteValue } from '../quote-value.js';

/** What a row is for: to be sent as one of the kinds, or to collect a job that was bought elsewhere. */
export type RowPurpose = RowKind | 'collect';

/** A column that millrace understands. */
interface Field {
  /**
   * - `identity`: names one row or job, so that `--set` cannot give it to all rows
   * - `fact`: says how a row is sent
   * - `order`: says when a row is sent; in the results it is like one of the user's own columns
   * - `content`: is sent; refused for a row that collects a job
   * - `setting`: is sent with the content
   * - `failure`: a field that failures.jsonl adds to the row's own cells
   */
  readonly role: 'identity' | 'fact' | 'order' | 'content' | 'setting' | 'failure';
  /** The rows that it applies to. */
  readonly for: readonly RowPurpose[];
}

/** A column that becomes one field of an edit's input, and back. */
interface EditField extends Field {
  /** Converts a cell to a value of the input. Invalid cells give a `CellProblem`, or a value that the contract's schema refuses. */
  readonly toWire: (cell: unknown) => unknown;
  /** Converts a value of the input to one cell of a spreadsheet. */
  readonly toCell: (value: unknown) => unknown;
  /** Whether the service distinguishes texts that differ only in case. */
  readonly isCaseSensitive: boolean;
  /**
   * A fast check for values that differ from row to row; it may accept only what the schema accepts unchanged. Without it the
   * schema checks each different value once, and the result is remembered. Required for required fields.
   */
  readonly passes?: (value: unknown) => boolean;
}

/** A missing or incomplete entry for a field of the contract's schema is a compile error. (spec 2.5) */
type EditFields = {
  readonly [Name in keyof ImageEditInput]-?: undefined extends ImageEditInput[Name]
    ? EditField
    : EditField & Required<Pick<EditField, 'passes'>>;
};

const everyRow = ['edit', 'job', 'route', 'collect'] as const;
const asItIs = (value: unknown): unknown => value;

/**
 * The columns of a manifest that millrace understands; all others are the user's own. This table decides what is sent, which
 * columns may be misspelt, what `--set` takes, the columns of the spreadsheets, and how a request becomes a row again.
 */
const table = {
  id: { role: 'identity', for: everyRow },
  kind: { role: 'fact', for: everyRow },
  endpoint: { role: 'fact', for: ['edit', 'job', 'collect'] },
  priority: { role: 'order', for: everyRow },
  images: {
    role: 'content',
    for: ['edit'],
    toWire: imageList,
    toCell: (images) => (Array.isArray(images) ? imagesCell(images) : images),
    isCaseSensitive: true,
    passes: isUrlList,
  },
  prompt: {
    role: 'content',
    for: ['edit'],
    toWire: asItIs,
    toCell: asItIs,
    isCaseSensitive: true,
    passes: (text: unknown) => typeof text === 'string' && text.trim() !== '',
  },
  resolution: { role: 'setting', for: ['edit'], toWire: asItIs, toCell: asItIs, isCaseSensitive: false },
  aspect_ratio: { role: 'setting', for: ['edit'], toWire: asItIs, toCell: asItIs, isCaseSensitive: false },
  output_format: { role: 'setting', for: ['edit'], toWire: asItIs, toCell: asItIs, isCaseSensitive: false },
  enable_base64_output: {
    role: 'setting',
    for: ['edit'],
    toWire: booleanCell,
    toCell: asItIs,
    isCaseSensitive: false,
  },
  input: { role: 'content', for: ['edit', 'job'] },
  route: { role: 'content', for: ['route'] },
  method: { role: 'setting', for: ['route'] },
  body: { role: 'content', for: ['route'] },
  jobId: { role: 'identity', for: ['collect'] },
  error: { role: 'failure', for: [] },
  millrace: { role: 'failure', for: [] },
} as const satisfies Record<string, Field | EditField>;

export type FieldName = keyof typeof table;
/** A column that becomes one field of an edit's input. */
export type EditFieldName = {
  [Name in FieldName]: (typeof table)[Name] extends EditField ? Name : never;
}[FieldName];

/** Converts cells of an edit to its input, and back. */
export const editFields: EditFields = table;

/** In the table's order, which is also the order of the spreadsheets' columns. */
export const fieldNames = Object.keys(table) as readonly FieldName[];

export const editFieldNames = fieldNames.filter((name): name is EditFieldName => 'toWire' in table[name]);

const known: ReadonlySet<string> = new Set(fieldNames);
const ofEdits: ReadonlySet<string> = new Set(editFieldNames);

export function isFieldName(name: string): name is FieldName {
  return known.has(name);
}

export function isEditField(name: string): name is EditFieldName {
  return ofEdits.has(name);
}

export function fieldsWith(...roles: readonly Field['role'][]): FieldName[] {
  return fieldNames.filter((name) => roles.includes(table[name].role));
}

/** Whether upper and lower case differ in this field. By default they do in the `content` of a request. */
export function isCaseSensitive(name: FieldName): boolean {
  const field: Field & Partial<EditField> = table[name];
  return field.isCaseSensitive ?? field.role === 'content';
}

export function isFor(purpose: RowPurpose, name: FieldName): boolean {
  return (table[name].for as readonly RowPurpose[]).includes(purpose);
}

/** The columns that rows of each purpose send, except columns named `input.<name>` and `body.<name>`. */
export const sentFields = byPurpose((role) => role === 'content' || role === 'setting');

/** The columns that a misspelt column may stand for, by purpose. */
export const meantFields = byPurpose((role) => role !== 'failure');

function byPurpose(
  isTaken: (role: Field['role']) => boolean,
): Readonly<Record<RowPurpose, readonly FieldName[]>> {
  const taken = (purpose: RowPurpose): FieldName[] =>
    fieldNames.filter((name) => isTaken(table[name].role) && isFor(purpose, name));
  return { edit: taken('edit'), job: taken('job'), route: taken('route'), collect: taken('collect') };
}

/** The pictures as a cell that is read as these: separated by blanks, or else as a JSON array. */
export function imagesCell(images: readonly unknown[]): string {
  const cell = images.join(' ');
  const read = imageList(cell);
  const isRead =
    Array.isArray(read) && read.length === images.length && read.every((one, at) => one === images[at]);
  return isRead ? cell : JSON.stringify(images);
}

function isUrlList(images: unknown): boolean {
  if (!Array.isArray(images) || images.length === 0 || images.length > maxImages) return false;
  return images.every((image) => typeof image === 'string' && checkHttpUrl(image) === undefined);
}

/** Why a cell holds no value of its field. */
export class CellProblem {
  constructor(readonly message: string) {}
}

/** A path with a blank, such as `photos/Mug 01.jpg`: a part without an extension, a blank, and a part with one. */
const pathWithBlank = /(?<![^\s|])[^\s|:.]+\s+[^\s|:]+\.(png|jpe?g|webp)\b/i;

/** A comma or semicolon that was meant to separate pictures: it would be sent as a part of the address before it. */
const wrongSeparator = /[,;](?=[\s|]|$|https?:)/i;

/** The entries of an `images` cell: a list, a JSON array, or texts separated by white space or `|`. */
export function imageList(cell: unknown): readonly unknown[] | CellProblem {
  if (Array.isArray(cell)) return cell as readonly unknown[];
  if (typeof cell !== 'string') return new CellProblem(`is not a list of URLs, but ${quoteValue(cell)}`);
  if (!cell.trimStart().startsWith('[')) {
    const wrong = wrongSeparator.exec(cell);
    if (wrong !== null) return separatedBy(wrong[0], cell.slice(0, wrong.index));
    const [path] = pathWithBlank.exec(cell) ?? [];
    if (path === undefined) return cell.split(/[\s|]+/).filter((image) => image !== '');
    return new CellProblem(
      `${quoteValue(path)} would be two pictures; write ${JSON.stringify([path])} for one`,
    );
  }
  const parsed = parseJson(cell);
  return 'problem' in parsed
    ? new CellProblem(`begins with "[", but ${parsed.problem}`)
    : (parsed.value as readonly unknown[]);
}

function separatedBy(separator: string, before: string): CellProblem {
  const image = before.split(/[\s|]+/).at(-1) ?? '';
  return new CellProblem(
    `has ${quoteValue(separator)} behind ${quoteValue(image)}: separate pictures by a blank or |, or write ${quoteValue([image + separator])} if it belongs to the address`,
  );
}

/** Ignores case, because spreadsheets write TRUE. Other text is returned unchanged, and the schema refuses it. */
export function booleanCell(cell: unknown): unknown {
  if (typeof cell !== 'string') return cell;
  const text = cell.toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : cell;
}

/**
 * The cells of a row that sends this request, as JSON values. Unknown fields of an edit's input stay in one object under
 * `input`: in separate columns, text could become numbers.
 */
export function requestCells(kind: RowKind, request: object): Record<string, unknown> {
  const sent = request as Readonly<Record<string, unknown>>;
  if (kind !== 'edit')
    return Object.fromEntries(
      sentFields[kind].flatMap((name) => (sent[name] === undefined ? [] : [[name, sent[name]]])),
    );
  const { input } = sent;
  const entries = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const others = entries.filter(([name]) => !isEditField(name));
  return {
    ...Object.fromEntries(entries.filter(([name]) => isEditField(name))),
    ...(others.length > 0 && { input: Object.fromEntries(others) }),
  };
}
