import { dirname } from 'node:path';
import pLimit from 'p-limit';
import { firstValueFrom } from 'rxjs';
import type { Download } from '../../../src/transport/got/download.js';
import { createGotDownload } from '../../../src/transport/got/got-download.js';
import { phaseTimeouts } from '../../../src/transport/transport.js';
import { TransportError } from '../../../src/transport/transport-error.js';
import { largestThumbnailed, makeThumbnail } from '../../batch/artifacts/write-thumbnail.js';
import type { Disk } from '../../batch/disk/disk.js';
import { replaceFile } from '../../batch/disk/replace-file.js';
import { readFirstStart } from '../survey/run-story.js';

/** Short limits, because nobody waits long for a small picture in a report. */
const timeouts = phaseTimeouts(15_000, { readMs: 30_000, requestMs: 60_000 });
const atOnce = 4;
/** A host that fails this many successive times is not asked again. */
const mostFaults = 3;
const reasonsKept = 5;

export interface ReferenceCopiesOptions {
  /** @defaultValue one over got, without a key, from the addresses that the run's service may name */
  readonly download?: Download;
  /** Called after each copy, with the number of copies so far. */
  readonly onSaved?: (count: number) => void;
}

/**
 * Saves small copies of references on the web. Each is fetched once, without a key, and is in memory only while its copy is
 * made. A reference that cannot be fetched is counted, and does not fail the report.
 */
export class ReferenceCopies {
  saved = 0;
  failed = 0;
  /** The reasons for the first failures. */
  readonly reasons: string[] = [];
  readonly #disk: Disk;
  readonly #download: Download;
  readonly #onSaved: (count: number) => void;
  readonly #faults = new Map<string, number>();
  readonly #limit = pLimit(atOnce);

  private constructor(disk: Disk, download: Download, onSaved: (count: number) => void) {
    [this.#disk, this.#download, this.#onSaved] = [disk, download, onSaved];
  }

  static async open(
    disk: Disk,
    folder: string,
    { download, onSaved = () => undefined }: ReferenceCopiesOptions = {},
  ): Promise<ReferenceCopies> {
    const { baseUrl = '', lbBaseUrl = '' } = (await readFirstStart(disk, folder)) ?? {};
    const services = [baseUrl, lbBaseUrl].filter((url) => url !== '');
    return new ReferenceCopies(disk, download ?? createGotDownload({ services }), onSaved);
  }

  /** Saves the copy of a reference. Resolves to whether it is at `target` now. */
  save(url: string, target: string): Promise<boolean> {
    return this.#limit(async () => {
      const host = new URL(url).host;
      try {
        if (this.#faultsOf(host) >= mostFaults) throw new Error('did not answer before');
        const small = await makeThumbnail(await this.#fetch(url));
        this.#faults.delete(host);
        if (small === undefined) throw new Error('no picture that can be read');
        await this.#disk.mkdir(dirname(target));
        await replaceFile(this.#disk, target, small);
      } catch (error) {
        if (error instanceof TransportError && error.phase !== 'too-large')
          this.#faults.set(host, this.#faultsOf(host) + 1);
        this.#note(host, error);
        return false;
      }
      this.#onSaved(++this.saved);
      return true;
    });
  }

  #faultsOf(host: string): number {
    return this.#faults.get(host) ?? 0;
  }

  async #fetch(url: string): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    const request = { url, maxBytes: largestThumbnailed, timeouts };
    const { status } = await firstValueFrom(
      this.#download(request, (bytes) => {
        chunks.push(Uint8Array.from(bytes));
      }),
    );
    if (status !== 200) throw new Error(`HTTP ${status}`);
    return Buffer.concat(chunks);
  }

  /** Without the whole address, whose query may contain a signature. */
  #note(host: string, error: unknown): void {
    this.failed++;
    const reason = `${host}: ${error instanceof Error ? error.message.replace(/^GET \S+: /, '') : String(error)}`;
    if (this.reasons.length < reasonsKept && !this.reasons.includes(reason)) this.reasons.push(reason);
  }
}
