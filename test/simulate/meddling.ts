import type { ForgetfulDisk } from '../support/forgetful-disk.js';
import { makeRows, manifestText, type SimulatedRow } from './rows.js';

/** What somebody else does to the files of a run while it goes on. */
export const meddlings = [
  /** Rows are appended. They wait for the next start. */
  'manifest-appended',
  /** Bytes change in place: later rows have other ids and requests. */
  'manifest-edited',
  'manifest-replaced',
  'manifest-cut',
  'manifest-removed',
  /** It is replaced by a copy of itself, which is nothing wrong. */
  'manifest-copied',
  /** It is replaced by a copy of itself: what is written from then on goes to a file without a name. */
  'journal-copied',
  /** It has no name until the start is over; then it is put back. */
  'journal-moved',
  /** The whole folder has another name until the start is over. */
  'folder-moved',
  /** Once the start is over, the journal as it stood at this call is put back, if all that was bought stands in costs.csv. */
  'journal-older',
] as const;

export type Meddling = (typeof meddlings)[number];

/** A start goes on after these: nothing that it has read is another thing. */
const harmless: ReadonlySet<Meddling> = new Set(['manifest-appended', 'manifest-copied']);
const out = '/job/out';
const journal = `${out}/journal.jsonl`;

/** The manifest, and somebody who does things to it and to the run's folder. */
export class Meddler {
  private done: Meddling | undefined;
  private readonly text: () => string;
  private undo: (disk: ForgetfulDisk) => void = () => undefined;

  constructor(
    readonly manifest: string,
    readonly rows: SimulatedRow[],
    private readonly look: { format: 'csv' | 'jsonl'; wide?: boolean; random: () => number },
    /** Every purchase stands in costs.csv: where that runs ahead of the journal, the next start can see it. */
    private readonly isEvident: (disk: ForgetfulDisk) => boolean,
  ) {
    this.text = () => manifestText(rows, look.format, look.wide);
  }

  /** The manifest as it should be. */
  writeManifest(disk: ForgetfulDisk): void {
    disk.plant(this.manifest, this.text());
  }

  /** @returns rows that are new */
  meddle(disk: ForgetfulDisk, what: Meddling): SimulatedRow[] {
    this.done = what;
    const added = what === 'manifest-appended' ? makeRows(2, this.look.random, this.rows.length) : [];
    this.rows.push(...added);
    if (what.startsWith('manifest-')) this.changeManifest(disk, what);
    else this.takeJournal(disk, what);
    return added;
  }

  /** What a start must have used before this is done: the manifest has been priced, or its journal has records of it. */
  neededFor(what: Meddling): string {
    return what.startsWith('manifest-') ? `read ${this.manifest}` : `write ${journal}`;
  }

  /** A start that was meddled with may refuse to go on; one whose manifest has only grown may not. */
  get mayRefuse(): boolean {
    return this.done !== undefined && !harmless.has(this.done);
  }

  /** The folder or the journal is, or was, another than the start's own. */
  get hasTakenJournal(): boolean {
    return this.done !== undefined && !this.done.startsWith('manifest-');
  }

  /** The start is over: manifest and folder are as they should be, but for a journal that was replaced. */
  tidy(disk: ForgetfulDisk): void {
    this.undo(disk);
    this.undo = () => undefined;
    this.done = undefined;
    this.writeManifest(disk);
  }

  private changeManifest(disk: ForgetfulDisk, what: Meddling): void {
    const text = this.text();
    const half = text.indexOf('\n', text.length / 2) + 1;
    const foreign = text.replace(/(job|edit|route)-(?=\d)/g, (name) => name.toUpperCase());
    if (what === 'manifest-appended') disk.overwrite(this.manifest, text);
    if (what === 'manifest-edited') disk.overwrite(this.manifest, text.slice(0, half) + foreign.slice(half));
    if (what === 'manifest-replaced') disk.plant(this.manifest, foreign);
    if (what === 'manifest-cut') disk.overwrite(this.manifest, text.slice(0, half));
    if (what === 'manifest-removed') disk.drop(this.manifest);
    if (what === 'manifest-copied') disk.plant(this.manifest, text);
  }

  private takeJournal(disk: ForgetfulDisk, what: Meddling): void {
    const bytes = disk.peek(journal);
    if (bytes === undefined) return;
    if (what === 'journal-copied') disk.plant(journal, bytes);
    if (what === 'journal-older')
      this.undo = (later) => {
        if (this.isEvident(later)) later.plant(journal, bytes);
      };
    if (what === 'journal-moved') {
      disk.moveFile(journal, '/job/journal.aside');
      this.undo = (later) => later.moveFile('/job/journal.aside', journal);
    }
    if (what === 'folder-moved') {
      disk.moveFolder(out, '/job/aside');
      this.undo = (later) => {
        later.removeFolder(out);
        later.moveFolder('/job/aside', out);
      };
    }
  }
}
