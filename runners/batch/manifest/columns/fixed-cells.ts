import { ManifestError } from '../manifest-error.js';
import type { ManifestSettings } from '../manifest-settings.js';
import { nearMiss } from './near-miss.js';
import { quoteValue } from '../quote-value.js';
import { cellValue } from '../parse-json.js';
import { pathColumn, type PathColumn } from './path-column.js';
import { fieldNames, fieldsWith, isFieldName, type FieldName } from './manifest-fields.js';

/** The values of `--set`, for rows without a value of their own. */
export interface FixedCells {
  /** `undefined`: there are none. */
  readonly fields: Partial<Record<FieldName, string>> | undefined;
  readonly paths: readonly (PathColumn & { readonly value: unknown })[];
}

const perRow: ReadonlySet<string> = new Set(fieldsWith('identity', 'failure'));

/** Reads `--set`, and checks the names in it and in `--map`: an unknown name would have no effect. @throws {ManifestError} */
export function fixedCells(settings: Pick<ManifestSettings, 'name' | 'set' | 'map'>): FixedCells {
  for (const name of Object.keys(settings.map ?? {})) checkName('--map', name, settings.name);
  const fields: Partial<Record<FieldName, string>> = {};
  const paths: (PathColumn & { value: unknown })[] = [];
  for (const [name, cell] of Object.entries(settings.set ?? {})) {
    const path = checkName('--set', name, settings.name);
    if (perRow.has(name))
      throw new ManifestError(settings.name, `--set ${name}=…: ${name} cannot be the same for every row`);
    if (path !== undefined) paths.push({ ...path, value: path.text ? cell : cellValue(cell) });
    else if (cell !== '') fields[name as FieldName] = cell;
  }
  return { fields: Object.keys(fields).length > 0 ? fields : undefined, paths };
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
