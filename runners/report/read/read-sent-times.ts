import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import type { Purchase } from './read-costs.js';
import { readJsonl } from './read-jsonl.js';
import { recordKind } from './record-kind.js';

/** More ids than this are not looked for in the bytes of a line: it is parsed. */
const mostNeedles = 20;

/**
 * When the requests of these purchases left, ms since the epoch, as the journal's intents say: a request without an answer
 * is settled much later where its run was killed. One pass over the journal; a purchase that it does not know is missing.
 */
export async function readSentTimes(
  disk: Disk,
  folder: string,
  purchases: readonly Purchase[],
): Promise<ReadonlyMap<Purchase, number>> {
  const byName = new Map(purchases.map((purchase) => [nameOf(purchase.id, purchase.attempt), purchase]));
  const times = new Map<Purchase, number>();
  if (byName.size === 0) return times;
  const ids = [...new Set(purchases.map(({ id }) => id))];
  const needles = ids.map((id) => `"id":${JSON.stringify(id)}`);
  const wanted = (line: Buffer): boolean =>
    recordKind(line) === 'intent' &&
    (needles.length > mostNeedles || needles.some((needle) => line.includes(needle)));
  for await (const { value } of readJsonl(disk, join(folder, 'journal.jsonl'), () => undefined, wanted)) {
    const { id, attempt, at } = value;
    const purchase = byName.get(nameOf(String(id), Number(attempt)));
    if (purchase !== undefined && typeof at === 'number') times.set(purchase, at);
  }
  return times;
}

function nameOf(id: string, attempt: number): string {
  return `${attempt} ${id}`;
}
