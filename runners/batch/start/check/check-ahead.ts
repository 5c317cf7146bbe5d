import { Worker } from 'node:worker_threads';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import { nodeDisk } from '../../disk/node-disk.js';
import { journalPath } from '../../journal/journal.js';
import { bytesBehindSnapshot } from '../../journal/load-snapshot.js';
import { readSummary } from '../../sinks/summary-file.js';
import type { KeptManifest } from './keep-manifest.js';
import { canBeKept, isKept } from './kept-check.js';

/** Less of a journal is read before a thread has begun. */
const leastBytes = 32 << 20;
/** Rows that have not ended are read by the thread and by the start: no more than one in so many. */
const mostToDo = 4;
/** Rows are short-lived. With node's own limit a thread takes 20 MB more, and no less time. */
const resourceLimits = { maxYoungGenerationSizeMb: 8 };

/**
 * Has a thread read the manifest while this one reads a long journal: it keeps what the manifest holds, as a start does, and then the
 * check makes no row of it. Resolves once the thread has ended, however it has: where nothing is kept, the check reads the manifest
 * itself, and says what is wrong with it.
 *
 * @param held the thread has begun by then, and is given the manifest
 * @param thread what runs in the thread
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
    // The flags of this process, a profile for one, are not the thread's.
    const worker = new Worker(thread, { resourceLimits, execArgv: [], stderr: true });
    worker.on('error', () => undefined).on('exit', resolve);
    signal.addEventListener('abort', () => void worker.terminate(), { once: true });
    void held.then(() => worker.postMessage(given));
  });
}

/** Whether nothing is kept of the journal and of the manifest, most rows have ended, and the thread reads what this process reads. */
async function isWorthThread(options: ResolvedOptions): Promise<boolean> {
  const { disk, out, manifest, journal, only } = options;
  const isPlain = disk === nodeDisk && journal === undefined && only === undefined && !manifest.settings.gzip;
  if (!isPlain || !canBeKept(options, {})) return false;
  if ((await bytesBehindSnapshot(disk, journalPath(out))) < leastBytes || (await isKept(options)))
    return false;
  const { completed = 0, failed = 0, toDo = 0 } = (await readSummary(disk, out))?.rows ?? {};
  return completed + failed > 0 && toDo * mostToDo < completed + failed + toDo;
}
