import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import * as z from 'zod';
import type { Disk } from '../disk/disk.js';
import { readFile, valueOfJson } from '../disk/read-file.js';
import { replaceFile } from '../disk/replace-file.js';
import type { DownloadHead } from '../../../src/transport/got/download.js';
import { ArtifactError } from './artifact-error.js';

/** How far a download has come, for a process that continues it. It is checked, because a person may have edited it. */
function noteSchema() {
  return z.object({
    /** Name of the part file. Each process writes to its own. */
    part: z.string().regex(/^\.[0-9a-f]{20}\.[0-9a-f]{8}\.part$/),
    /** SHA-256 of the URL: a row that was bought again has another file. */
    url: z.string(),
    validator: z.string(),
    total: z.int().optional(),
    /** How many bytes of the part are durable. */
    bytes: z.int().positive(),
  });
}
type PartNote = z.output<ReturnType<typeof noteSchema>>;

/** The bytes that an earlier process left, and the version of the file that they belong to. */
export interface EarlierPart extends Pick<PartNote, 'bytes' | 'validator' | 'total'> {
  readonly path: string;
}

const mostNoteBytes = 10_000;
/** Stands for a process id in the name of the part that is being copied. */
const ofNobody = '0'.repeat(8);

/**
 * The note beside the part file of a download. It is written after the bytes that it counts are durable, and durably removed
 * before the part is written anew. So it never counts bytes of another version, even after a crash.
 */
export class KeptPart {
  constructor(
    private readonly disk: Disk,
    /** Without `.<process>.part` and `.note`. */
    private readonly name: string,
    private readonly url: string,
  ) {}

  private get note(): string {
    return `${this.name}.note`;
  }

  /** @param path of the part that has this many durable bytes */
  async keep(
    path: string,
    { validator, total, bytes }: Pick<PartNote, 'validator' | 'total' | 'bytes'>,
  ): Promise<void> {
    const note: PartNote = { part: basename(path), url: hashOf(this.url), validator, bytes, total };
    await replaceFile(this.disk, this.note, JSON.stringify(note));
  }

  async drop(): Promise<void> {
    if ((await this.disk.stat(this.note)) === undefined) return;
    await this.disk.unlink(this.note);
    await this.disk.syncFolder(dirname(this.note));
  }

  /**
   * Returns the bytes of this URL that an earlier process left, once. The caller must copy them, because that process may only
   * seem dead and still write.
   */
  async take(): Promise<EarlierPart | undefined> {
    const note = await this.read();
    await this.drop();
    if (note === undefined) return undefined;
    const path = `${this.name}.${ofNobody}.part`;
    await this.disk.rename(this.pathOf(note), path);
    return { ...note, path };
  }

  private async read(): Promise<PartNote | undefined> {
    const { disk, note: path } = this;
    const found = await disk.stat(path);
    if (found?.kind !== 'file' || found.size > mostNoteBytes) return undefined;
    const { data: note } = noteSchema().safeParse(
      valueOfJson((await readFile(disk, path, found.size)).toString()),
    );
    if (note?.url !== hashOf(this.url)) return undefined;
    const part = await disk.stat(this.pathOf(note));
    return part?.kind === 'file' && part.size >= note.bytes ? note : undefined;
  }

  private pathOf({ part }: Pick<PartNote, 'part'>): string {
    return `${dirname(this.name)}/${part}`;
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const range = /^bytes (\d+)-\d+\/(\d+|\*)$/;

/**
 * The version of a partly downloaded file, as its host identifies it, so that bytes of two versions are never mixed. If the
 * host gives no strong validator (RFC 9110, 13.1.5), the whole file is requested again.
 */
export class FileVersion {
  /** The validator for `If-Range`; `undefined` if there is none. */
  validator: string | undefined;
  /** The length of the whole file, if the host has given it. */
  total: number | undefined;
  private taken: DownloadHead | undefined;

  /**
   * Processes the head of a reply before its first bytes; later calls with the same head do nothing.
   *
   * @returns false if the reply contains the whole file, and the `length` bytes already written must be dropped
   * @throws {ArtifactError} if it contains other bytes than the following ones
   */
  goesOn(head: DownloadHead, length: number): boolean {
    if (head === this.taken) return true;
    this.taken = head;
    const { status, headers } = head;
    if (status !== 206) {
      this.validator = validatorOf(headers);
      const announced = headers['content-encoding'] === undefined ? headers['content-length'] : undefined;
      this.total = announced === undefined ? undefined : Number(announced);
      return length === 0;
    }
    const [, start, total = '*'] = range.exec(headers['content-range'] ?? '') ?? [];
    const isOfVersion = total === '*' || this.total === undefined || Number(total) === this.total;
    const named = validatorOf(headers) ?? this.validator;
    if (Number(start) !== length || !isOfVersion || named !== this.validator) {
      this.forget();
      throw new ArtifactError('its host sent other bytes than those that follow', { mayPass: true });
    }
    if (total !== '*') this.total = Number(total);
    return true;
  }

  /** The next try requests the whole file. */
  forget(): void {
    this.validator = undefined;
    this.total = undefined;
  }
}

function validatorOf(headers: DownloadHead['headers']): string | undefined {
  const { etag, date = '' } = headers;
  const isEncoded = headers['content-encoding'] !== undefined;
  if (isEncoded || headers['accept-ranges'] === 'none') return undefined;
  if (etag !== undefined) return etag.startsWith('"') ? etag : undefined;
  const modified = headers['last-modified'] ?? '';
  // Within a second of this date the file may have changed again without another date.
  return Date.parse(date) - Date.parse(modified) >= 1000 ? modified : undefined;
}
