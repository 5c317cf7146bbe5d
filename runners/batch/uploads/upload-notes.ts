import * as z from 'zod';
import { openAppendFile, type AppendFile } from '../disk/append-file.js';
import type { Disk } from '../disk/disk.js';
import { valueOfJson, readLines } from '../disk/read-file.js';

/** One picture that was uploaded. */
export type UploadNote = z.output<ReturnType<typeof noteSchema>>;

function noteSchema() {
  return z.object({
    /** As the manifest has it. */
    path: z.string(),
    bytes: z.int(),
    mtimeMs: z.number(),
    sha256: z.string(),
    /** Its name: `s3://bucket/key`. */
    name: z.string(),
  });
}

/** The pictures that were uploaded, over all starts of a run: `uploads.jsonl` in its folder. */
export class UploadNotes {
  readonly #schema = noteSchema();
  readonly #notes = new Map<string, UploadNote>();
  #file: AppendFile | undefined;
  #last = Promise.resolve();

  private constructor(
    private readonly disk: Disk,
    private readonly path: string,
  ) {}

  /** Notes that cannot be read are skipped; their pictures are read again. */
  static async open(disk: Disk, path: string): Promise<UploadNotes> {
    const notes = new UploadNotes(disk, path);
    const file = await disk.open(path, 'r').catch(() => undefined);
    if (file === undefined) return notes;
    try {
      for await (const { bytes, ended } of readLines(file)) if (ended) notes.#read(bytes.toString('utf8'));
    } finally {
      await file.close();
    }
    return notes;
  }

  /** The note of a picture, as long as the file is unchanged. */
  find(path: string, { bytes, mtimeMs }: Pick<UploadNote, 'bytes' | 'mtimeMs'>): UploadNote | undefined {
    const note = this.#notes.get(path);
    return note?.bytes === bytes && note.mtimeMs === mtimeMs ? note : undefined;
  }

  /** The sizes of all pictures in the notes, by their SHA-256. */
  sizes(): ReadonlyMap<string, number> {
    return new Map([...this.#notes.values()].map(({ sha256, bytes }) => [sha256, bytes]));
  }

  /** If a note cannot be written, that is not an error: the next start reads the picture again. */
  async add(note: UploadNote): Promise<void> {
    this.#notes.set(note.path, note);
    this.#last = this.#last.then(() => this.#write(note)).catch(() => undefined);
    await this.#last;
  }

  /** Waits until all added notes are written. */
  async close(): Promise<void> {
    await this.#last;
    await this.#file?.close();
  }

  async #write(note: UploadNote): Promise<void> {
    this.#file ??= await openAppendFile(this.disk, this.path);
    await this.#file.append(Buffer.from(`${JSON.stringify(note)}\n`));
  }

  #read(line: string): void {
    // An incomplete line is skipped.
    const { data } = this.#schema.safeParse(valueOfJson(line));
    if (data !== undefined) this.#notes.set(data.path, data);
  }
}
