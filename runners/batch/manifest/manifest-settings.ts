import type { RowKind, RowMode } from './manifest-row.js';

/**
 * How a manifest is read. These values and the manifest's bytes alone decide its rows, so that a start can use the check of an
 * earlier one. Anything else that is read must be a function here, which prevents that.
 */
export interface ManifestSettings {
  /** The name of the manifest in messages: its path as the user wrote it. */
  readonly name: string;
  readonly format: 'csv' | 'jsonl';
  readonly gzip: boolean;
  /** The separator of a CSV's columns. @defaultValue found in its first line: comma, semicolon or tab */
  readonly delimiter?: string | undefined;
  /** Called once with the name of a CSV's separator, such as `semicolons` or `tabs`, unless it is a comma. */
  readonly separatedBy?: ((name: string) => void) | undefined;
  /** Endpoint of rows that name none. */
  readonly endpoint?: string | undefined;
  /** Endpoint of edits that name none if `endpoint` is not given, such as the emulator's. */
  readonly editEndpoint?: string | undefined;
  /** The endpoints that names in the manifest stand for; any other name is an id. */
  readonly endpoints?: Readonly<Record<string, NamedEndpoint>> | undefined;
  /** Kind of rows that have no `kind`. @defaultValue decided by the row's columns */
  readonly kind?: RowKind | undefined;
  /** @defaultValue edit: sync, job: async */
  readonly mode?: RowMode | undefined;
  /**
   * Field → text for every row whose own cell is empty or missing. `{{column}}` is replaced by the row's cell,
   * `{{column|text}}` has a text for an empty cell, and `\{{` is a literal `{{`.
   */
  readonly set?: Readonly<Record<string, string>> | undefined;
  /** Field → the column that it is read from. */
  readonly map?: Readonly<Record<string, string>> | undefined;
  /** Column → values: each row becomes one row for each combination of them. A column with these values is added to the manifest. */
  readonly each?: Readonly<Record<string, readonly string[]>> | undefined;
  /** How often each row is sent, after `each`; a column `repeat` has the number. @defaultValue 1 */
  readonly repeat?: number | undefined;
  /** Columns that are the user's own although their names look like that of an absent field. Without this, such columns are refused. */
  readonly ignore?: readonly string[] | undefined;
  /** Endpoint id → the resolutions with a price, where jobs cost a price per picture. `runBatch` takes them from its price book. */
  readonly pictures?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Turns a path in `images` into a URL. @defaultValue paths are refused */
  readonly resolveImage?: ResolveImage | undefined;
}

/** The endpoint that a name in the manifest stands for. */
export interface NamedEndpoint {
  readonly id: string;
  /** The mode of its rows, unless `ManifestSettings.mode` sets one for all rows. */
  readonly mode?: RowMode;
}

/** Returns the URL for a path in `images`, or the problem with the path. */
export type ResolveImage = (path: string) => string | { readonly problem: string };

/** The format by the file name: `.csv`, `.jsonl` or `.ndjson`, each also with `.gz` added. `undefined` for other names. */
export function manifestFormat(
  path: string,
): { readonly format: 'csv' | 'jsonl'; readonly gzip: boolean } | undefined {
  const match = /\.(csv|jsonl|ndjson)(\.gz)?$/i.exec(path);
  if (match === null) return undefined;
  return { format: match[1]?.toLowerCase() === 'csv' ? 'csv' : 'jsonl', gzip: match[2] !== undefined };
}
