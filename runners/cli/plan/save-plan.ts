import {
  diskFaultAt,
  nodeDisk,
  type ManifestItem,
  type Plan,
  type PriceBook,
  type Row,
} from '../../batch/formats.js';
import { planManifest, readManifest, type RowSample } from '../../batch/planning.js';
import type { CliIo, RawOptions } from '../io/cli-io.js';
import type { ManifestSource } from '../options/find-manifest.js';
import type { RunOptions } from '../options/parse-options.js';
import { capsOf, plannedOptions, withHosts } from './open-plan.js';
import { selectRows, withManifestFile } from './plan-source.js';
import { plannedSettings } from './planned-settings.js';
import { createReadStream } from 'node:fs';
import { type PlanHead, plannedRow, type PlanFoot, type PlannedRow } from './saved-plan.js';
import { createHash } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Plans like `planSource`, and saves the plan to a file with one line for each row, so that a run can be compared with it. */
export async function planAndSave(
  file: string,
  planned: {
    readonly raw: RawOptions;
    readonly source: ManifestSource;
    readonly options: RunOptions;
    readonly prices: PriceBook;
    /** Gets all rows. */
    readonly sample: RowSample;
  },
  io: Pick<CliIo, 'stdin' | 'env' | 'cwd'>,
): Promise<Plan> {
  const { raw, source, options, prices, sample } = planned;
  const { name, path, format } = source;
  const head = {
    ...({ millrace: 'plan', version: 1, madeAt: new Date().toISOString() } as const),
    manifest: { name, path: path ?? null, format },
    ...(options.out !== undefined && { out: resolve(io.cwd, options.out) }),
    ...(options.prices !== undefined && { prices: resolve(io.cwd, options.prices) }),
    caps: capsOf(raw),
    options: plannedOptions(withHosts(raw, io.env)),
  };
  const settings = await plannedSettings(source, options, prices);
  return withManifestFile(source, io, async (manifest) => {
    const writer = await PlanWriter.open(file, head);
    try {
      const read = () => readManifest(writer.bytes(createReadStream(manifest)), settings);
      const rows = await selectRows(read, options);
      const priceOf = (row: Row) => prices.priceOf(row);
      const plan = await planManifest(writer.rows(rows(), prices), { priceOf, see: sample.see, again: rows });
      if (plan.invalid === 0 || options.skipInvalid) await writer.finish(plan);
      return plan;
    } finally {
      await writer.abandon();
    }
  });
}

const collectedChars = 65_536;

/** Writes a plan to a temporary file while the manifest is read, in constant memory. `finish` moves it to its place. */
class PlanWriter {
  readonly #manifest = createHash('sha256');
  readonly #lines = createHash('sha256');
  #waiting = '';
  #isRead = false;

  private constructor(
    private readonly file: string,
    private readonly handle: FileHandle,
  ) {}

  /** @throws {DiskFault} if nothing can be written there */
  static async open(file: string, head: PlanHead): Promise<PlanWriter> {
    const handle = await open(`${file}.tmp`, 'w', 0o600).catch(diskFaultAt(file));
    const writer = new PlanWriter(file, handle);
    await writer.#write(head);
    return writer;
  }

  /** Passes the manifest's bytes on, and adds those of the first reading to the checksum. */
  async *bytes(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const isFirst = !this.#isRead;
    this.#isRead = true;
    for await (const chunk of source) {
      if (isFirst) this.#manifest.update(chunk);
      yield chunk;
    }
  }

  /** Passes rows on, and writes one line for each. */
  async *rows(items: AsyncIterable<ManifestItem>, prices: PriceBook): AsyncGenerator<ManifestItem> {
    for await (const item of items) {
      await this.#write(plannedRow(item, prices));
      yield item;
    }
  }

  async finish({ rows, invalid, cost: { estimated, unpriced } }: Plan): Promise<void> {
    const facts = { rows, invalid, manifest: this.#manifest.digest('hex'), estimated, unpriced };
    await this.#write({ ...facts, lines: this.#lines.copy().digest('hex') });
    await this.#replace().catch(diskFaultAt(this.file));
  }

  async #replace(): Promise<void> {
    await this.#flush();
    await this.handle.sync();
    await this.handle.close();
    await nodeDisk.rename(`${this.file}.tmp`, this.file);
    await nodeDisk.syncFolder(dirname(this.file));
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
    await this.handle.writeFile(text).catch(diskFaultAt(this.file));
  }
}
