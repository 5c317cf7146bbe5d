import { MillraceError } from '../../../src/contract/millrace-error.js';
import { stripControls } from './quote-value.js';

export interface ManifestPlace {
  /** 1-based line of the file. */
  readonly line?: number;
  /** The cell of a CSV line, or the character at which the text is damaged; from 1. */
  readonly column?: number;
  /** The name of the column in the message. @defaultValue `column N` */
  readonly columnLabel?: string;
  readonly cause?: unknown;
}

/** The manifest cannot be read, so nothing of it is sent. The message names the place and the remedy. */
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

/** The manifest's bytes have changed since it was first read: no row may be made of them. */
export class ManifestChangedError extends ManifestError {
  static override readonly name: string = 'ManifestChangedError';

  constructor(
    readonly file: string,
    readonly problem: string,
    line?: number,
  ) {
    super(file, problem, line === undefined ? {} : { line, columnLabel: 'or behind it' });
  }

  /** The same error with the line up to which the bytes are unchanged. */
  from(line: number): ManifestChangedError {
    return new ManifestChangedError(this.file, this.problem, line);
  }
}
