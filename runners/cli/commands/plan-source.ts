import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createPriceBook } from '../../batch/ledger/price-book.js';
import type { ManifestSettings } from '../../batch/manifest/manifest-settings.js';
import { planManifest, type Plan } from '../../batch/manifest/plan-manifest.js';
import { readManifest } from '../../batch/manifest/read-manifest.js';
import type { CliIo } from '../io/cli-io.js';
import type { ManifestSource } from '../options/find-manifest.js';
import type { RunOptions } from '../options/run-options.js';

/** Reads the whole manifest once and says what is in it. Nothing is started and nothing is sent. */
export function planSource(
  source: ManifestSource,
  options: RunOptions,
  io: Pick<CliIo, 'stdin'>,
): Promise<Plan> {
  const bytes = source.path === undefined ? io.stdin : createReadStream(source.path);
  const settings: ManifestSettings = {
    ...manifestSettings(source, options),
    ...(options.local && { resolveImage: (path: string) => plannedImage(source.folder, path) }),
  };
  return planManifest(readManifest(bytes, settings), { priceOf: createPriceBook().priceOf });
}

/** How the options say that the manifest is to be read. */
export function manifestSettings(source: ManifestSource, options: RunOptions): ManifestSettings {
  return {
    name: source.name,
    format: source.format,
    gzip: source.gzip,
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    ...(options.kind !== undefined && { kind: options.kind }),
    ...(options.mode !== undefined && { mode: options.mode }),
    set: options.set,
    map: options.map,
  };
}

/** A picture beside the manifest, as a URL that nobody asks for: the plan only looks whether it is there. */
function plannedImage(folder: string, path: string): string | { problem: string } {
  if (!existsSync(resolve(folder, path))) return { problem: 'no such file beside the manifest' };
  return `http://127.0.0.1/${encodeURIComponent(path)}`;
}
