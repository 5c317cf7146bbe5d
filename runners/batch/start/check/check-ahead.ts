import { Worker } from 'node:worker_threads';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import { nodeDisk } from '../../disk/node-disk.js';
import { journalPath } from '../../journal/journal.js';
import { bytesBehindSnapshot } from '../../journal/journal-snapshot.js';
import { readSummary } from '../../sinks/summary-file.js';
import type { KeptManifest } from './keep-manifest.js';
import { canBeKept, isKept } from './kept-check.js';

/** A journal with fewer bytes is read before a thread has started. */
const leastBytes = 32 << 20;
/** Worth it only if fewer than one row in this many is left: the thread and the start both read rows that have not ended. */
const mostToDo = 4;
/** Rows are short-lived objects: with node's default limit the thread takes 20 MB more and is not faster. */
const resourceLimits = { maxYoungGenerationSizeMb: 8 };

/**
 * Lets a thread read the manifest while this one reads a long journal: the thread saves `.manifest.checked`, as a start
 * does, and the check then need not create the rows again. Resolves when the thread has ended, even with an error: if
 * nothing was saved, the check reads the manifest itself and reports its problems.
 *
 * @param held once this resolves, the thread gets the manifest; the thread itself is started before
 * @param thread the script that the thread runs
 */
export async function checkAhead(
  options: ResolvedOptions,
  signal: AbortSignal,
  held: Promise<unknown>,
  thread: URL = new URL('./check-thread.js', import.meta.url),
): Promise<void> {
  if (!(await isWorthThread(options).catch(() => false)) || signal.aborted) return;
  const { out, manifest } = options;
  const given: KeptManifest = { out, path: manifest.path, settings: manifest.settings };
  await new Promise<unknown>((resolve) => {
    // Flags of this process, such as profiling, are not passed to the thread.
    const worker = new Worker(thread, { resourceLimits, execArgv: [], stderr: true });
    worker.on('error', () => undefined).on('exit', resolve);
    signal.addEventListener('abort', () => void worker.terminate(), { once: true });
    void held.then(() => worker.postMessage(given));
  });
}

/**
 * Whether a thread is worth it: there is no usable snapshot of the journal and no kept check of the manifest, most rows
 * have ended, and the thread would read the same files as this process.
 */
async function isWorthThread(options: ResolvedOptions): Promise<boolean> {
  const { disk, out, manifest, journal, only } = options;
  const isPlain = disk === nodeDisk && journal === undefined && only === undefined && !manifest.settings.gzip;
  if (!isPlain || !canBeKept(options, {})) return false;
  if ((await bytesBehindSnapshot(disk, journalPath(out))) < leastBytes || (await isKept(options)))
    return false;
  const { completed = 0, failed = 0, toDo = 0 } = (await readSummary(disk, out))?.rows ?? {};
  return completed + failed > 0 && toDo * mostToDo < completed + failed + toDo;
}
