import type { ManifestItem } from '../../batch/manifest/row.js';
import { UsageError } from '../io/usage-error.js';
import { plainText } from '../words/plain-text.js';

/**
 * The part of a manifest that `--only` and `--limit` leave, and every invalid row of all of it. Throws `UsageError` at
 * the end when `--only` names an id that no row has.
 */
export async function* selectRows(
  items: AsyncIterable<ManifestItem>,
  part: { readonly limit?: number | undefined; readonly only?: readonly string[] | undefined },
): AsyncGenerator<ManifestItem> {
  const wanted = part.only === undefined ? undefined : new Set(part.only);
  const missing = new Set(part.only);
  let left = part.limit ?? Number.POSITIVE_INFINITY;
  for await (const item of items) {
    if (item.row.id !== undefined) missing.delete(item.row.id);
    if (!item.valid) yield item;
    else if (left > 0 && (wanted?.has(item.row.id) ?? true)) {
      left -= 1;
      yield item;
    }
  }
  const names = [...missing].map((id) => `"${plainText(id, 60)}"`).join(', ');
  if (names !== '') throw new UsageError([`--only: no row has the id ${names}`]);
}
