import type { ManifestSettings } from '../../runners/batch/manifest/manifest-settings.js';
import { readManifest } from '../../runners/batch/manifest/read-manifest.js';
import type { InvalidRow, ManifestItem, Row } from '../../runners/batch/manifest/manifest-row.js';

/** Bytes in pieces of a size, as a stream hands them out. */
export async function* inChunks(
  bytes: Uint8Array,
  size = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, Math.min(bytes.length, at + size));
}

export type TestSettings = Partial<ManifestSettings> & { chunkBytes?: number };

/** All items of a manifest: CSV named `edits.csv` for the endpoint `e`, unless the settings say otherwise. */
export async function readItems(
  text: string | Uint8Array,
  settings: TestSettings = {},
): Promise<ManifestItem[]> {
  const { chunkBytes, ...given } = settings;
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const format = given.format ?? 'csv';
  const all = { name: `edits.${format}`, format, gzip: false, endpoint: 'e', ...given };
  const items: ManifestItem[] = [];
  for await (const item of readManifest(inChunks(bytes, chunkBytes), all)) items.push(item);
  return items;
}

/** JSON lines from values. */
export function jsonLines(...rows: unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

export async function readRows(text: string | Uint8Array, settings: TestSettings = {}): Promise<Row[]> {
  return (await readItems(text, settings)).map((item) => {
    if (!item.valid)
      throw new Error(`line ${item.row.line} is invalid: ${JSON.stringify(item.row.problems)}`);
    return item.row;
  });
}

export async function readInvalid(
  text: string | Uint8Array,
  settings: TestSettings = {},
): Promise<InvalidRow[]> {
  return (await readItems(text, settings)).filter((item) => !item.valid).map((item) => item.row);
}
