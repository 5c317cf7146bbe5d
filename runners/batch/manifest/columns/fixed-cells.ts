import { ManifestError } from '../manifest-error.js';
import type { ManifestSettings } from '../manifest-settings.js';
import { nearMiss } from './near-miss.js';
import { quoteValue } from '../quote-value.js';
import { cellValue } from '../parse-json.js';
import { pathColumn, type PathColumn } from './path-column.js';
import { CellProblem, fieldNames, fieldsWith, isFieldName, type FieldName } from './manifest-fields.js';
import { parseTemplate, type Template } from './template.js';

/** The values of `--set`, for rows without a value of their own. */
export interface FixedCells {
  /** `undefined` if there are none. */
  readonly fields: Readonly<Partial<Record<FieldName, unknown>>> | undefined;
  readonly paths: readonly FixedPath[];
}

/** A value below `input` or `body`; a `CellProblem` if this row cannot fill it. */
export type FixedPath = PathColumn & { readonly value: unknown };

/** The values of `--set` for all rows. Texts to be filled with the cells of each row are kept as they were written. */
export interface SetCells extends FixedCells {
  readonly templates: readonly SetTemplate[];
}

export interface SetTemplate {
  readonly name: string;
  /** Absent for a field. */
  readonly path?: PathColumn;
  readonly template: Template;
}

const perRow: ReadonlySet<string> = new Set(fieldsWith('identity', 'failure'));

/** Reads `--set`, and checks the names in it and in `--map`, because an unknown name would have no effect. @throws {ManifestError} */
export function fixedCells(settings: Pick<ManifestSettings, 'name' | 'set' | 'map'>): SetCells {
  for (const name of Object.keys(settings.map ?? {})) checkName('--map', name, settings.name);
  const fields: Partial<Record<FieldName, string>> = {};
  const paths: FixedPath[] = [];
  const templates: SetTemplate[] = [];
  for (const [name, cell] of Object.entries(settings.set ?? {})) {
    const path = checkName('--set', name, settings.name);
    if (perRow.has(name))
      throw new ManifestError(settings.name, `--set ${name}=…: ${name} cannot be the same for every row`);
    const template = parseTemplate(cell);
    if (template instanceof CellProblem)
      throw new ManifestError(settings.name, `--set ${name}=…: ${template.message}`);
    const text = typeof template === 'string' ? template : cell;
    if (typeof template !== 'string') templates.push({ name, template, ...(path && { path }) });
    if (path !== undefined) paths.push({ ...path, value: path.text ? text : cellValue(text) });
    else if (text !== '') fields[name as FieldName] = text;
  }
  return { fields: Object.keys(fields).length > 0 ? fields : undefined, paths, templates };
}

function checkName(option: '--set' | '--map', name: string, manifest: string): PathColumn | undefined {
  const path = pathColumn(name);
  if (typeof path === 'object') return path;
  if (typeof path === 'string') throw new ManifestError(manifest, `${option} ${name}=…: ${name} ${path}`);
  if (isFieldName(name)) return undefined;
  const meant = nearMiss(name, fieldNames);
  throw new ManifestError(
    manifest,
    `${option} ${name}=…: there is no field ${quoteValue(name)}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  );
}
