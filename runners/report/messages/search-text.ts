import type { PageRow } from '../page-data.js';

const longest = 600;

/** The text that the gallery's search looks through. */
export function searchText(row: PageRow): string {
  const cells = Object.entries(row.cells ?? {}).filter(([name, value]) => name !== 'id' && isPlain(value));
  const parts = [
    row.id,
    row.error?.message,
    row.jobId,
    row.output,
    ...cells.map(([, value]) => String(value)),
  ];
  return parts
    .filter((part) => part !== undefined)
    .join('\n')
    .slice(0, longest)
    .toLowerCase();
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
