import { csvLine } from './csv-line.js';

/** A purchase as it is named in costs.csv. Two purchases of one row differ in their attempt. */
export function purchaseKey(id: string, attempt: number): string {
  return `${csvLine([id]).slice(0, -1)},${attempt}`;
}

/** The purchase of a line of costs.csv that is held as unknown; `undefined` for any other line. */
export function heldPurchase(line: string): string | undefined {
  const [, id, attempt] = /^("(?:[^"]|"")*"|[^,"]*),\d+,(\d+),.*,unknown,[^,"]*$/s.exec(line) ?? [];
  return attempt === undefined ? undefined : `${id},${attempt}`;
}
