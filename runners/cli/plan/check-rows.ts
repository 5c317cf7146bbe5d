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
  /** How many rows are tested at a time. @defaultValue 8 */
  readonly concurrency?: number;
}

/** How many addresses are remembered, so that rows that share a reference test it once, in constant memory. */
const remembered = 20_000;
const deadKept = 1_000;

/** Tests each endpoint and each reference of a manifest once, while its rows are read, in constant memory. */
export async function checkRows(items: AsyncIterable<ManifestItem>, checks: RowChecks): Promise<CheckedRows> {
  const state = new RowCheck(checks);
  const iterator = items[Symbol.asyncIterator]();
  const work = async (): Promise<void> => {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
      if (next.value.valid) await state.take(next.value.row);
  };
  await Promise.all(Array.from({ length: checks.concurrency ?? 8 }, work));
  return state.result();
}

class RowCheck {
  readonly #checks: RowChecks;
  readonly #endpoints = new Map<string, { readonly checked: Promise<CheckedEndpoint>; rows: number }>();
  readonly #references = new Map<string, Promise<string | undefined>>();
  readonly #dead: DeadReference[] = [];
  #tested = 0;
  #deadCount = 0;

  constructor(checks: RowChecks) {
    this.#checks = checks;
  }

  async take(row: Row): Promise<void> {
    if (row.kind !== 'route') this.#askEndpoint(row.endpoint);
    if (row.request.kind !== 'edit' || row.jobId !== undefined) return;
    const urls = new Set(row.request.input.images);
    await Promise.all([...urls].map((url) => this.#askReference(row, url)));
  }

  async result(): Promise<CheckedRows> {
    const endpoints = await Promise.all(
      [...this.#endpoints].map(
        async ([id, { checked, rows }]) => [id, { ...(await checked), rows }] as const,
      ),
    );
    return {
      endpoints: new Map(endpoints),
      tested: this.#tested,
      deadCount: this.#deadCount,
      dead: this.#dead.sort((one, other) => one.row - other.row),
    };
  }

  #askEndpoint(id: string): void {
    const known = this.#endpoints.get(id);
    if (known !== undefined) known.rows += 1;
    else this.#endpoints.set(id, { checked: this.#checks.endpoint(id), rows: 1 });
  }

  async #askReference({ row, line, id }: Row, url: string): Promise<void> {
    if (this.#checks.isLocal(url)) return;
    const problem = await (this.#references.get(url) ?? this.#firstAsk(url));
    if (problem === undefined) return;
    this.#deadCount += 1;
    if (this.#dead.length < deadKept) this.#dead.push({ row, line, id, url, problem });
  }

  #firstAsk(url: string): Promise<string | undefined> {
    this.#tested += 1;
    const asked = this.#checks.reference(url);
    this.#references.set(url, asked);
    const [oldest] = this.#references.keys();
    if (this.#references.size > remembered && oldest !== undefined) this.#references.delete(oldest);
    return asked;
  }
}
