import type { RowKind, RowMode } from './manifest-row.js';

/**
 * How a manifest is read. Together with the manifest's bytes they decide what its rows are: what is read beside them has to be a
 * function, so that no start takes rows for those that an earlier one has checked.
 */
export interface ManifestSettings {
  /** The manifest in messages: its path as the user wrote it. */
  readonly name: string;
  readonly format: 'csv' | 'jsonl';
  readonly gzip: boolean;
  /** What separates the columns of a CSV. @defaultValue by its first line: commas, semicolons or tabs */
  readonly delimiter?: string;
  /** Called once with what separates the columns of a CSV, unless it is a comma: `semicolons`, `tabs` … */
  readonly separatedBy?: (name: string) => void;
  /** Endpoint of rows that name none. */
  readonly endpoint?: string;
  /** Endpoint of edits that name none, where `endpoint` is not given: the emulator has one. */
  readonly editEndpoint?: string;
  /** What the names of endpoints stand for; any other is an id. */
  readonly endpoints?: Readonly<Record<string, NamedEndpoint>>;
  /** Kind of rows that have no `kind`. @defaultValue by the row's columns */
  readonly kind?: RowKind;
  /** @defaultValue edit: sync, job: async */
  readonly mode?: RowMode;
  /**
   * Field → text for every row whose own cell is empty or missing. `{{column}}` in it is filled from the row, `{{column|text}}` says what
   * stands for an empty cell, and `\{{` is the text itself.
   */
  readonly set?: Readonly<Record<string, string>>;
  /** Field → the column that it is taken from. */
  readonly map?: Readonly<Record<string, string>>;
  /** Column → values: each row becomes one row for each combination of them. A column with these values is added to the manifest. */
  readonly each?: Readonly<Record<string, readonly string[]>>;
  /** Each row, after `each`, is sent this often, with its number in a column `repeat`. @defaultValue 1 */
  readonly repeat?: number;
  /** Columns that are the user's own although their names look like the name of an absent field: others like them are refused. */
  readonly ignore?: readonly string[];
  /** Turns a path in `images` into a URL. @defaultValue paths are refused */
  readonly resolveImage?: ResolveImage;
}

/** The endpoint that a name in the manifest stands for. */
export interface NamedEndpoint {
  readonly id: string;
  /** The mode of its rows, unless `ManifestSettings.mode` sets one for all rows. */
  readonly mode?: RowMode;
}

/** The URL of a path in `images`, or what is wrong with the path. */
export type ResolveImage = (path: string) => string | { readonly problem: string };

export interface ManifestFormat {
  readonly format: 'csv' | 'jsonl';
  readonly gzip: boolean;
}

/** The format by the file name: `.csv`, `.jsonl` or `.ndjson`, each also with `.gz` behind it. `undefined`: another name. */
export function manifestFormat(path: string): ManifestFormat | undefined {
  const match = /\.(csv|jsonl|ndjson)(\.gz)?$/i.exec(path);
  if (match === null) return undefined;
  return { format: match[1]?.toLowerCase() === 'csv' ? 'csv' : 'jsonl', gzip: match[2] !== undefined };
}
