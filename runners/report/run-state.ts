import { createHash } from 'node:crypto';
import { version } from '../../src/contract/version.js';
import type { Disk } from '../batch/disk/disk.js';
import { readSummary } from '../batch/sinks/summary-file.js';

/**
 * A short text that stays the same as long as a report of the run would tell the same, times of starts left out; empty
 * where summary.json does not say how far the other files go.
 */
export async function runState(disk: Disk, folder: string): Promise<string> {
  const summary = await readSummary(disk, folder);
  if (summary?.covers === undefined) return '';
  const { rows, failures, statusCalls, prices, priceTable } = summary;
  const cost = { ...summary.cost, drift: 0 };
  const told = [version, rows, failures, cost, statusCalls, prices, priceTable, summary.covers.files];
  return createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 24);
}
