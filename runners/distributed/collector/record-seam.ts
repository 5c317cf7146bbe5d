import { MillraceError } from '../../../src/contract/millrace-error.js';
import { exitOf } from '../../batch/stop/exit-of.js';
import type { Stops } from '../../batch/stop/stops.js';
import type { Copied } from './copy-behind.js';
import type { NoteKeeper } from './run-note.js';
import type { RecordHead, StoredRecord } from '../table/records.js';

interface Parts extends Pick<NoteKeeper, 'keepNote'> {
  readonly stops: Stops;
  readonly headOf: (seq: number) => Promise<RecordHead | undefined>;
}

/**
 * The last record that was copied from the database. A database that was put back to an earlier state meanwhile, as a
 * standby that lacks its last commits, has others from some number on: what follows would be copied behind a gap.
 */
export class RecordSeam {
  private last: Pick<StoredRecord, 'seq' | 'item' | 'record'> | undefined;
  /** The number of the database's last record when it was compared. */
  private comparedAt = -1;

  constructor(private readonly parts: Parts) {}

  copied(page: readonly StoredRecord[]): void {
    this.last = page.at(-1) ?? this.last;
  }

  /**
   * Compares it, where the database has something new. A run whose database was put back stops, and copies nothing more.
   *
   * @param seq the number of the database's last record
   * @param position up to which record the folder has all of them: the next start is held against it
   * @throws {MillraceError} `journal-io`
   */
  async check(seq: number, position: Copied): Promise<void> {
    if (seq < position.collected) return this.stop(position);
    if (this.last === undefined || seq === this.comparedAt) return;
    const { item, record, seq: at } = this.last;
    const found = await this.parts.headOf(at);
    const head = JSON.stringify({ k: record.k, at: record.at }).slice(0, -1);
    if (found?.item !== item || !found.head.startsWith(head)) return this.stop(position);
    this.comparedAt = seq;
  }

  private async stop(position: Copied): Promise<never> {
    const message =
      'The database was put back to an earlier state while the run went on: records that it had are gone, and rows may be bought again that it has forgotten. ' +
      'The run was stopped. Put its latest state back, or look at the account and start again with --repair: it holds the rows that may have been bought.';
    const error = new MillraceError('journal-io', message);
    this.parts.stops.stop({ ...exitOf(error), leaves: ['open', 'accepted', 'replied'] });
    await this.parts.keepNote({ ...position });
    throw error;
  }
}
