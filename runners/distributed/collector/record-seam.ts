import { isDeepStrictEqual } from 'node:util';
import { stopForFault } from '../../batch/stop/exit-of.js';
import type { Stops } from '../../batch/stop/stops.js';
import type { StoredRecord } from '../table/records.js';
import { DatabasePutBack } from '../table/seats.js';
import type { Copied } from './copy-behind.js';
import type { NoteKeeper } from './run-note.js';

interface Parts extends Pick<NoteKeeper, 'keepNote'> {
  readonly stops: Stops;
}

/**
 * The last record that was copied from the database. If the database is put back to an earlier state meanwhile, as by a
 * standby that lacks its last commits, it has other records from some number on: what follows would be copied behind a gap.
 */
export class RecordSeam {
  private last: StoredRecord | undefined;

  constructor(private readonly parts: Parts) {}

  /** Call this with the records that are copied. */
  copied(page: readonly StoredRecord[]): void {
    this.last = page.at(-1) ?? this.last;
  }

  /**
   * Compares the last copied record with the one that the database has now. If they differ, the run stops, and copies nothing
   * more. Both must come from one query: the database may be put back between two.
   *
   * @param read the records from the last copied one on
   * @param position up to which record the folder has all of them: the next start compares the database with it
   * @returns the records behind it
   * @throws {DatabasePutBack}
   */
  async behind(read: readonly StoredRecord[], position: Copied): Promise<readonly StoredRecord[]> {
    if (position.collected === 0) return read;
    const [seam, ...behind] = read;
    const isThere = seam?.seq === position.collected && isDeepStrictEqual(seam, this.last ?? seam);
    return isThere ? behind : this.stop(position);
  }

  private async stop(position: Copied): Promise<never> {
    const error = new DatabasePutBack();
    stopForFault(this.parts.stops, error);
    await this.parts.keepNote({ ...position });
    throw error;
  }
}
