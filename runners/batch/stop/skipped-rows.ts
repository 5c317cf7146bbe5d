import { formatMoney, toUsd } from '../../../src/contract/micro-dollars.js';
import type { RowFacts } from '../row/task.js';
import { whyBlocked } from './stop-causes.js';
import type { StopCause } from './stops.js';
import { cappedValueText, type CappedValue } from '../ledger/value-caps.js';
import type { RunEnd } from './worst-end.js';

/** Endpoints that the service does not know: their rows are left to be done. */
export class BlockedEndpoints {
  private readonly messages = new Map<string, string>();

  /** @param known endpoints to which rows are sent */
  constructor(
    private readonly known: readonly string[],
    private readonly hasRoutes: boolean,
  ) {}

  has({ kind, endpoint }: Pick<RowFacts, 'kind' | 'endpoint'>): boolean {
    return kind !== 'route' && this.messages.has(endpoint);
  }

  /**
   * Blocks an endpoint.
   *
   * @param message the service's message
   * @returns false if it is blocked already
   */
  add(endpoint: string, message: string): boolean {
    if (this.messages.has(endpoint)) return false;
    this.messages.set(endpoint, message);
    return true;
  }

  /** The cause of a stop if no row can be sent anywhere. */
  whyStop(message: string): StopCause | undefined {
    const { known: endpoints, hasRoutes } = this;
    return whyBlocked({ endpoints, hasRoutes }, this.ids, message);
  }

  get ids(): string[] {
    return [...this.messages.keys()];
  }

  /** The service's message for the first of them. */
  get message(): string {
    const [first = ''] = this.messages.values();
    return first;
  }
}

const valuesShown = 3;
const valuesKept = 1_000;

/** Values of columns whose caps had no room for a row: that row is left for a later start, and other rows continue. */
export class FullValues {
  private readonly first = new Map<string, CappedValue>();
  private count = 0;

  get areThere(): boolean {
    return this.count > 0;
  }

  /** Counts a row that is left. Returns a message about its value, the first time. */
  add(full: CappedValue): string | undefined {
    this.count++;
    const name = JSON.stringify([full.column, full.value]);
    if (this.first.has(name) || this.first.size >= valuesKept) return undefined;
    this.first.set(name, full);
    return `No more rows fit under the cap of ${fullValueText(full)}: they are left for a later start, and others continue.`;
  }

  /** The end of a start that leaves rows because of such caps. */
  get end(): RunEnd {
    const full = [...this.first.values()];
    const names = full.slice(0, valuesShown).map(fullValueText);
    const more = this.first.size > names.length ? ', …' : '';
    const reason = `Rows are left at the caps of their values: ${names.join(', ')}${more}. Run again with a higher --max-cost-by to continue, or unchanged once some of their money is free again.`;
    const columns = new Map(full.map(({ column, cap }) => [column, toUsd(cap)]));
    const caps = [...columns].map(([column, usd]) => ({ option: 'max-cost-by' as const, column, usd }));
    return { exitCode: 3, reason, caps };
  }
}

function fullValueText(full: CappedValue): string {
  return `${cappedValueText(full)} at ${formatMoney(full.cap)}`;
}
