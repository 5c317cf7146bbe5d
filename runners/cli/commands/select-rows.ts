import type { ManifestItem } from '../../batch/manifest/manifest-row.js';
import { SelectRows } from '../../batch/tasks/select-rows.js';

/**
 * The part of a manifest that `--only` and `--limit` leave, and every invalid row of all of it. `missing` is called at
 * the end with the ids of `--only` that no row has, if there are any.
 */
export async function* selectRows(
  items: AsyncIterable<ManifestItem>,
  part: { readonly limit?: number | undefined; readonly only?: readonly string[] | undefined },
  missing: (ids: readonly string[]) => void,
): AsyncGenerator<ManifestItem> {
  const only = part.only === undefined ? undefined : new Set(part.only);
  const select = new SelectRows({ limit: part.limit ?? Number.MAX_SAFE_INTEGER, only });
  for await (const item of items) {
    if (item.row.id !== undefined) select.see(item.row.id);
    if (!item.valid || select.takes(item.row.id)) yield item;
  }
  if (select.missing().length > 0) missing(select.missing());
}
