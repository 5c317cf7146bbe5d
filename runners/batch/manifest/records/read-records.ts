import type { ManifestSettings } from '../manifest-settings.js';
import { readText } from '../text/read-text.js';
import { parseCsv } from './parse-csv.js';
import { parseJsonl } from './parse-jsonl.js';
import type { RawRecord } from './raw-record.js';

/** The manifest's lines as cells, a batch for each piece of text: no more is read before a batch has been used up. */
export function readRecords(
  bytes: AsyncIterable<Uint8Array>,
  settings: Pick<ManifestSettings, 'name' | 'format' | 'gzip' | 'map' | 'delimiter' | 'separatedBy'>,
): AsyncGenerator<Iterable<RawRecord>> {
  const text = readText(bytes, settings);
  return settings.format === 'csv' ? parseCsv(text, settings) : parseJsonl(text, settings.name);
}
