import { MillraceError } from '../../../src/contract/millrace-error.js';
import { stripControls } from './quote-value.js';

/** Where in the manifest something is wrong. */
export interface ManifestPlace {
  /** 1-based line of the file. */
  readonly line?: number;
  /** 1-based: the cell of a CSV line, or the character where the text itself is broken. */
  readonly column?: number;
  /** How the message names the column. @defaultValue `column N` */
  readonly columnLabel?: string;
  readonly cause?: unknown;
}

/** The manifest as a whole cannot be read: nothing of it is sent. Its message says where and what to do. */
export class ManifestError extends MillraceError {
  static override readonly name: string = 'ManifestError';
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(name: string, problem: string, place: ManifestPlace = {}) {
    const { line, column, columnLabel, cause } = place;
    const parts = [
      name,
      ...(line === undefined ? [] : [`line ${line}`]),
      ...(columnLabel !== undefined ? [columnLabel] : column === undefined ? [] : [`column ${column}`]),
    ];
    super('manifest', stripControls(`${parts.join(', ')}: ${problem}`), cause === undefined ? {} : { cause });
    this.line = line;
    this.column = column;
  }
}

/** A later reading of the manifest finds other bytes than the first one did: no row may be made of them. */
export class ManifestChangedError extends ManifestError {
  static override readonly name: string = 'ManifestChangedError';

  constructor(
    readonly file: string,
    readonly problem: string,
    line?: number,
  ) {
    super(file, problem, line === undefined ? {} : { line, columnLabel: 'or behind it' });
  }

  /** The same error with the line up to which the bytes were as before. */
  from(line: number): ManifestChangedError {
    return new ManifestChangedError(this.file, this.problem, line);
  }
}
