import { join } from 'node:path';
import { nodeDisk } from '../batch/disk/node-disk.js';
import type { Disk } from '../batch/disk/disk.js';
import { openIfThere } from './read/read-jsonl.js';
import { folderName } from './rows/row-files.js';
import { runState } from './run-state.js';
import { writeReport, type WriteReportOptions } from './write-report.js';

/** The state stands in front of all else. */
const headBytes = 2048;

/**
 * Writes `report.html`, unless there is a large one that tells the same already: a start that finds nothing to do in a
 * million rows does not write a million rows again. A small one is always written; it takes no time.
 */
export async function refreshReport(folder: string, options: WriteReportOptions = {}): Promise<void> {
  const disk = options.disk ?? nodeDisk;
  const state = await runState(disk, folder);
  if (state === '' || state !== (await stateTold(disk, folder))) await writeReport(folder, options);
}

/** The state that the report in the folder tells of; `undefined` where it is small, or lacks its rows. */
async function stateTold(disk: Disk, folder: string): Promise<string | undefined> {
  const rows = await disk.stat(join(folder, folderName, 'page-0001.js'));
  const file = await openIfThere(disk, join(folder, 'report.html'));
  if (file === undefined) return undefined;
  try {
    const head = Buffer.alloc(headBytes);
    const count = await file.read(head, 0);
    const state = /<meta name="run-state" content="(\w+)">/.exec(head.toString('utf8', 0, count))?.[1];
    return rows === undefined ? undefined : state;
  } finally {
    await file.close();
  }
}
