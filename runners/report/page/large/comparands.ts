import { formatMoney } from '../../../../src/contract/micro-dollars.js';
import type { PageRow } from '../../page-data.js';

/** A picture to compare the result with. */
export interface Comparand {
  readonly label: string;
  readonly path: string | undefined;
  readonly thumb: string | undefined;
}

/** The original, earlier versions (the newest first), and the other references. */
export function comparandsOf(row: PageRow): Comparand[] {
  const references = row.references
    .filter(({ thumb, path }) => (thumb ?? path) !== undefined)
    .map(({ name, path, thumb }, index) => ({
      label: `${index === 0 ? 'Original' : 'Reference'}: ${name}${path === undefined ? ' (small copy)' : ''}`,
      path,
      thumb,
    }));
  const versions = (row.earlier ?? []).map(({ path, thumb, prompt, resolution, cost }) => ({
    label: [
      'Earlier version',
      prompt,
      resolution,
      cost === undefined || cost === null ? '' : formatMoney(cost),
    ]
      .filter((part) => part !== undefined && part !== '')
      .join(', '),
    path,
    thumb,
  }));
  return [...references.slice(0, 1), ...versions, ...references.slice(1)];
}
