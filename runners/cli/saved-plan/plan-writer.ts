import { createHash } from 'node:crypto';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DiskFault } from '../../batch/disk/disk-fault.js';
import type { PriceBook } from '../../batch/ledger/price-book.js';
import type { Plan } from '../../batch/manifest/plan-manifest.js';
import type { ManifestItem } from '../../batch/manifest/manifest-row.js';
import { plannedRow } from './planned-row.js';
import type { PlanFoot, PlanHead, PlannedRow } from './saved-plan.js';

const collectedChars = 65_536;

/** Writes a plan beside its place while the manifest is read, in flat memory; it is there once it is finished. */
export class PlanWriter {
  readonly #manifest = createHash('sha256');
  readonly #lines = createHash('sha256');
  #waiting = '';

  private constructor(
    private readonly file: string,
    private readonly handle: FileHandle,
  ) {}

  /** @throws {DiskFault} where nothing can be written there */
  static async open(file: string, head: PlanHead): Promise<PlanWriter> {
    const handle = await open(`${file}.tmp`, 'w', 0o600).catch((error: unknown) => fail(file, error));
    const writer = new PlanWriter(file, handle);
    await writer.#write(head);
    return writer;
  }

  /** Passes the manifest's bytes on, and takes their sum. */
  async *bytes(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.#manifest.update(chunk);
      yield chunk;
    }
  }

  /** Passes rows on, and writes a line of each. */
  async *rows(items: AsyncIterable<ManifestItem>, prices: PriceBook): AsyncGenerator<ManifestItem> {
    for await (const item of items) {
      await this.#write(plannedRow(item, prices));
      yield item;
    }
  }

  async finish({ rows, invalid, cost: { estimated, unpriced } }: Plan): Promise<void> {
    const facts = { rows, invalid, manifest: this.#manifest.digest('hex'), estimated, unpriced };
    await this.#write({ ...facts, lines: this.#lines.copy().digest('hex') });
    try {
      await this.#flush();
      await this.handle.sync();
      await this.handle.close();
      await rename(`${this.file}.tmp`, this.file);
      const folder = await open(dirname(this.file));
      await folder.sync().finally(() => folder.close());
    } catch (error) {
      fail(this.file, error);
    }
  }

  async abandon(): Promise<void> {
    await this.handle.close().catch(() => undefined);
    await rm(`${this.file}.tmp`, { force: true });
  }

  async #write(line: PlanHead | PlannedRow | PlanFoot): Promise<void> {
    const text = `${JSON.stringify(line)}\n`;
    this.#waiting += text;
    this.#lines.update(text);
    if (this.#waiting.length >= collectedChars) await this.#flush();
  }

  async #flush(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = '';
    await this.handle.writeFile(text).catch((error: unknown) => fail(this.file, error));
  }
}

function fail(file: string, error: unknown): never {
  throw new DiskFault(file, (error as NodeJS.ErrnoException).code, error);
}
