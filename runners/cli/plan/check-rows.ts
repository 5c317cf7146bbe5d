import type { ManifestItem, Row } from '../../batch/formats.js';
import type { CheckedEndpoint } from '../service/check-service.js';

/** A reference that the service will not be able to fetch, and the row that names it. */
export interface DeadReference {
  readonly row: number;
  readonly line: number;
  readonly id: string;
  readonly url: string;
  readonly problem: string;
}

export interface CheckedRows {
  /** By endpoint id, with the number of rows that go there. */
  readonly endpoints: ReadonlyMap<string, CheckedEndpoint & { readonly rows: number }>;
  readonly tested: number;
  readonly deadCount: number;
  readonly dead: readonly DeadReference[];
}

export interface RowChecks {
  readonly endpoint: (id: string) => Promise<CheckedEndpoint>;
  /** Returns what is wrong with an address, or `undefined`. */
  readonly reference: (url: string) => Promise<string | undefined>;
  /** Whether an address is a file beside the manifest, which the plan has checked already. */
  readonly isLocal: (url: string) => boolean;
}

/** How many rows are tested at a time. */
const concurrency = 8;
/** How many addresses are remembered, so that rows that share a reference test it once, in constant memory. */
const remembered = 20_000;
const deadKept = 1_000;

/** Tests each endpoint and each reference of a manifest once, while its rows are read, in constant memory. */
export async function checkRows(items: AsyncIterable<ManifestItem>, checks: RowChecks): Promise<CheckedRows> {
  const endpoints = new Map<string, { readonly checked: Promise<CheckedEndpoint>; rows: number }>();
  const references = new Map<string, Promise<string | undefined>>();
  const dead: DeadReference[] = [];
  let [tested, deadCount] = [0, 0];
  const firstAsk = (url: string): Promise<string | undefined> => {
    tested += 1;
    const asked = checks.reference(url);
    references.set(url, asked);
    const [oldest = ''] = references.keys();
    if (references.size > remembered) references.delete(oldest);
    return asked;
  };
  const askReference = async ({ row, line, id }: Row, url: string): Promise<void> => {
    const problem = checks.isLocal(url) ? undefined : await (references.get(url) ?? firstAsk(url));
    if (problem === undefined) return;
    deadCount += 1;
    if (dead.length < deadKept) dead.push({ row, line, id, url, problem });
  };
  const take = async (row: Row): Promise<void> => {
    if (row.kind !== 'route') {
      const known = endpoints.get(row.endpoint) ?? { checked: checks.endpoint(row.endpoint), rows: 0 };
      known.rows += 1;
      endpoints.set(row.endpoint, known);
    }
    if (row.request.kind !== 'edit' || row.jobId !== undefined) return;
    await Promise.all([...new Set(row.request.input.images)].map((url) => askReference(row, url)));
  };
  const iterator = items[Symbol.asyncIterator]();
  const work = async (): Promise<void> => {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
      if (next.value.valid) await take(next.value.row);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const checked = [...endpoints].map(
    async ([id, one]) => [id, { ...(await one.checked), rows: one.rows }] as const,
  );
  dead.sort((one, other) => one.row - other.row);
  return { endpoints: new Map(await Promise.all(checked)), tested, deadCount, dead };
}
