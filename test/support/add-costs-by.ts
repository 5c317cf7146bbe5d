import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ColumnCosts, Summary, ValueSummary } from '../../runners/batch/sinks/summary-file.js';

const none = {
  purchases: 0,
  reported: 0,
  estimated: 0,
  unknown: 0,
  completed: 0,
  failed: 0,
  held: 0,
  undownloaded: 0,
};

/** The sums of one value, where those that are not named are 0. */
export function sumsOf(sums: Partial<ValueSummary>): ValueSummary {
  return { ...none, ...sums };
}

/** Gives a run that lies on the disk sums by the values of columns, and caps for them. */
export async function addCostsBy(
  folder: string,
  by: Readonly<Record<string, ColumnCosts>>,
  capsUsd: Readonly<Record<string, number>> = {},
): Promise<void> {
  const path = join(folder, 'summary.json');
  const summary = JSON.parse(await readFile(path, 'utf8')) as Summary;
  await writeFile(path, JSON.stringify({ ...summary, cost: { ...summary.cost, by } }));
  const earlier = { k: 'cost-by', at: 1, columns: Object.keys(by), capsUsd: { customer: 1 } };
  const latest = { ...earlier, at: 2, capsUsd };
  await appendFile(
    join(folder, 'journal.jsonl'),
    [earlier, latest].map((record) => `${JSON.stringify(record)}\n`).join(''),
  );
}
