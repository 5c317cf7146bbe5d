import { createHash } from 'node:crypto';
import { fieldsWith, isCaseSensitive, isFieldName } from '../columns/manifest-fields.js';
import { pathColumn } from '../columns/path-column.js';
import { ManifestError } from '../manifest-error.js';
import type { ManifestSettings } from '../manifest-settings.js';
import { hasHalfCharacter, cellValue } from '../parse-json.js';
import { quoteValue } from '../quote-value.js';
import { repeatColumn } from './asked-axes.js';

/** A column whose values multiply each row. */
export interface Axis {
  readonly name: string;
  readonly values: readonly AxisValue[];
}

export interface AxisValue {
  /** The value as it was given, which is in the `columns` of the results. */
  readonly text: string;
  /** The cell for the row. Below `input` and `body`, a JSONL cell gets the type that the text would have in a CSV. */
  readonly cell: unknown;
  /** The text that it adds to the row's id; it may be empty. */
  readonly suffix: string;
}

type AxesSettings = Pick<ManifestSettings, 'name' | 'format' | 'each' | 'repeat' | 'map'>;

const mostAxes = 10;
/** More rows from one line must be a mistake. */
const mostProducts = 1_000_000;

/** Checks the axes of `--each` and `--repeat`, and returns them in the order in which they are given. @throws {ManifestError} */
export function axesOf(settings: AxesSettings): readonly Axis[] {
  const { name, each = {}, repeat = 1 } = settings;
  const axes = Object.entries(each).map(([axis, values]) => axisOf(axis, values, settings));
  if (axes.length > mostAxes) throw new ManifestError(name, `--each: at most ${mostAxes} axes are allowed`);
  if (repeat > 1) axes.push(repeatAxis(repeat));
  const products = axes.reduce((product, { values }) => product * values.length, 1);
  if (products > mostProducts)
    throw new ManifestError(
      name,
      `--each: each row would become ${products} rows; at most ${mostProducts} are allowed`,
    );
  return axes;
}

function axisOf(name: string, values: readonly string[], settings: AxesSettings): Axis {
  const refuse = (problem: string): ManifestError =>
    new ManifestError(settings.name, `--each ${quoteValue(name).slice(1, -1)}=…: ${problem}`);
  const problem = nameProblem(name, settings);
  if (problem !== undefined) throw refuse(problem);
  if (values.length === 0) throw refuse('has no values');
  const [places, suffixes] = [new Map<string, string>(), new Map<string, string>()];
  const found = values.map((text): AxisValue => {
    const wrong = valueProblem(text);
    if (wrong !== undefined) throw refuse(wrong);
    const equal = places.get(comparable(name, text));
    if (equal !== undefined) throw refuse(`has ${equalText(equal, text)}: each row would be bought again`);
    places.set(comparable(name, text), text);
    const suffix = `.${slug(name)}-${slug(text)}`;
    const other = suffixes.get(suffix);
    if (other !== undefined)
      throw refuse(
        `${quoteValue(other)} and ${quoteValue(text)} would give rows the same id; change one of them`,
      );
    suffixes.set(suffix, text);
    return { text, cell: cellOf(name, text, settings.format), suffix };
  });
  return { name, values: found };
}

function repeatAxis(repeat: number): Axis {
  const values = Array.from({ length: repeat }, (_, index) => {
    const text = String(index + 1);
    return { text, cell: text, suffix: index === 0 ? '' : `.${repeatColumn}-${text}` };
  });
  return { name: repeatColumn, values };
}

const ofOneRow: ReadonlySet<string> = new Set([...fieldsWith('identity', 'order', 'failure'), 'redo']);

function nameProblem(name: string, { map = {} }: AxesSettings): string | undefined {
  if (name === repeatColumn) return 'rows are bought several times as they are with --repeat N';
  if (ofOneRow.has(name)) return `${name} is a row's own and cannot be an axis`;
  if (
    name === '' ||
    name === '__proto__' ||
    name.trim() !== name ||
    /[\u0000-\u001f\u007f-\u009f]/.test(name)
  )
    return 'is not a name of a column';
  const path = pathColumn(name);
  if (typeof path === 'string') return path;
  const source = Object.hasOwn(map, name) ? map[name] : undefined;
  return source === undefined
    ? undefined
    : `--map ${name}=${source} reads this field from ${quoteValue(source)}; give the axis that name`;
}

function valueProblem(text: string): string | undefined {
  if (text.trim() === '') return 'has an empty value';
  return hasHalfCharacter(text)
    ? `${quoteValue(text)} holds half a character; write the whole one`
    : undefined;
}

/** A form in which two values are equal if the service would receive the same, or a person sees the same. */
function comparable(name: string, text: string): string {
  const seen = text.trim().normalize('NFC');
  return isFieldName(name) && !isCaseSensitive(name) ? seen.toLowerCase() : seen;
}

function equalText(one: string, other: string): string {
  return one === other
    ? `${quoteValue(one)} twice`
    : `${quoteValue(one)} and ${quoteValue(other)}, which are the same`;
}

function cellOf(name: string, text: string, format: AxesSettings['format']): unknown {
  const path = pathColumn(name);
  return format === 'jsonl' && typeof path === 'object' && !path.text ? cellValue(text) : text;
}

const plain = /^[\p{L}\p{N}][\p{L}\p{N}_-]*(?:\.[\p{L}\p{N}_-]+)*$/u;
const longestPlain = 40;
const longestStem = 24;

/** A text as part of an id: a short plain text as it is; of any other its plain characters, with a hash of the whole text. */
function slug(text: string): string {
  const composed = text.normalize('NFC');
  if (composed.length <= longestPlain && plain.test(composed)) return composed;
  const stem = Array.from(composed.replace(/[^\p{L}\p{N}]+/gu, '-'))
    .slice(0, longestStem)
    .join('')
    .replace(/^-+|-+$/g, '');
  const hash = createHash('sha256').update(composed).digest('hex').slice(0, 10);
  return stem === '' ? hash : `${stem}-${hash}`;
}
