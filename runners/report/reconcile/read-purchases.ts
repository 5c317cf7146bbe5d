import { join } from 'node:path';
import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import { readCsv } from '../read/read-csv.js';

/** A line of costs.csv. */
export interface Purchase {
  readonly id: string;
  readonly row: number;
  readonly attempt: number;
  /** The empty string where no id came back. */
  readonly jobId: string;
  readonly cost: MicroDollars;
  readonly source: string;
  readonly at: number;
}

export async function readPurchases(disk: Disk, folder: string): Promise<Purchase[]> {
  const purchases: Purchase[] = [];
  for await (const line of readCsv(disk, join(folder, 'costs.csv'))) {
    purchases.push({
      id: line['id'] ?? '',
      row: Number(line['row']),
      attempt: Number(line['attempt']),
      jobId: line['jobId'] ?? '',
      cost: line['cost'] === '' ? 0 : toMicroDollars(Number(line['cost'])),
      source: line['source'] ?? '',
      at: Date.parse(line['settledAt'] ?? ''),
    });
  }
  return purchases;
}
