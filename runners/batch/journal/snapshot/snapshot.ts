import { endianness } from 'node:os';
import { version } from '../../../../src/contract/version.js';
import type { KeptRecovery, Recovery } from '../recovery.js';
import { statuses } from '../../row/row-status.js';

/** What was read of the first bytes of a journal, and by what these are known again. */
export interface Snapshot {
  readonly recovery: Recovery;
  /** Bytes of the journal that it tells of: whole lines. */
  readonly end: number;
  /** Their CRC-32. */
  readonly checksum: number;
}

/** The JSON in front of the table's columns. */
export interface SnapshotHeader {
  readonly made: string;
  readonly end: number;
  readonly checksum: number;
  readonly kept: KeptRecovery;
}

/** So many bytes of a journal are looked at in a fifth of a second. */
export const bytesASnapshot = 16 << 20;

/** Bytes of a number at either end of the file, little-endian: the header's length in front, the file's CRC-32 behind. */
export const numberBytes = 4;

/** Raised when something else is kept, or means something else. */
const format = 5;

/** Who wrote a snapshot: only the same version reads it, on a machine with the same order of bytes. */
export const madeBy = JSON.stringify({ format, version, order: endianness(), statuses });
