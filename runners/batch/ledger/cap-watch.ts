import { formatMoney, toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowOrigin } from '../manifest/columns/column-value.js';
import type { Ledger } from './ledger.js';
import { cappedValueText, ValueCaps, type ValueCapsOptions } from './value-caps.js';

/** How much of a cap must be taken before the user is warned: a percentage of each cap, or an amount in US dollars. */
export type WarnAt = { readonly percent: number } | { readonly usd: number };

export interface CapWatchOptions {
  readonly warnAt: WarnAt;
  /** The ledger of this run, including the money of earlier starts. */
  readonly ledger: Pick<Ledger, 'snapshot' | 'takenBy'>;
  /** The caps of values, and the money that earlier starts took under them. */
  readonly byValue: ValueCapsOptions;
  /** The cap that runs share, and the money they took in the last 24 hours; absent if there is no shared cap. */
  readonly day?: (() => { readonly cap: MicroDollars; readonly taken: MicroDollars }) | undefined;
  /** Called at most once for each cap. */
  readonly warn: (message: string) => void;
}

/** Warns about at most about this many values. */
const valuesKept = 1_000;

/**
 * Warns once for each cap when the money reserved, spent or unknown reaches the threshold. A cap that is past it from the
 * beginning was reported by an earlier start, so there is no warning.
 */
export class CapWatch {
  private readonly known = new Set<string>();
  private readonly before: ValueCaps;

  constructor(private readonly options: CapWatchOptions) {
    const { ledger, day, byValue } = options;
    this.before = new ValueCaps(byValue);
    const { cap, ...sums } = ledger.snapshot();
    if (this.isReached(cap, takenOf(sums))) this.known.add('run');
    const shared = day?.();
    if (this.isReached(shared?.cap, shared?.taken ?? 0)) this.known.add('day');
  }

  /** Checks the caps that apply to a row whose money has changed. */
  look(row: RowOrigin): void {
    const { ledger, day } = this.options;
    const { cap, ...sums } = ledger.snapshot();
    const taken = takenOf(sums);
    this.report('run', cap, taken, '--max-cost');
    const shared = day?.();
    this.report('day', shared?.cap, shared?.taken ?? 0, '--max-cost-per-day, by all runs in 24 hours,');
    this.lookAtValues(row);
  }

  private lookAtValues(row: RowOrigin): void {
    const { ledger } = this.options;
    for (const capped of ledger.takenBy?.(row) ?? []) {
      const { column, value, cap, taken } = capped;
      const key = JSON.stringify([column, value]);
      if (this.known.size > valuesKept || this.known.has(key) || !this.isReached(cap, taken)) continue;
      const before = this.before.takenBy(row).find((one) => one.column === column)?.taken ?? 0;
      if (this.isReached(cap, before)) continue;
      this.report(key, cap, taken, `--max-cost-by ${cappedValueText(capped)}`);
    }
  }

  private report(key: string, cap: MicroDollars | undefined, taken: MicroDollars, name: string): void {
    if (cap === undefined || this.known.has(key) || !this.isReached(cap, taken)) return;
    this.known.add(key);
    const { warnAt, warn } = this.options;
    const threshold = 'usd' in warnAt ? formatMoney(toMicroDollars(warnAt.usd)) : `${warnAt.percent}%`;
    warn(
      `${formatMoney(taken)} of the ${formatMoney(cap)} of ${name} are spent, reserved or in doubt (--warn-at ${threshold}).`,
    );
  }

  private isReached(cap: MicroDollars | undefined, taken: MicroDollars): boolean {
    return cap !== undefined && taken >= thresholdOf(this.options.warnAt, cap);
  }
}

function takenOf({ reserved, spent, unknown }: Omit<ReturnType<Ledger['snapshot']>, 'cap'>): MicroDollars {
  return reserved + spent + unknown;
}

/** The amount at which a warning is due. A threshold above the cap is never reached. */
function thresholdOf(warnAt: WarnAt, cap: MicroDollars): number {
  if ('percent' in warnAt) return (cap * warnAt.percent) / 100;
  const threshold = toMicroDollars(warnAt.usd);
  return threshold > cap ? Number.POSITIVE_INFINITY : threshold;
}

/** Why a threshold makes no sense with the caps in force (in US dollars); `undefined` if it does. */
export function whyNoThreshold(warnAt: WarnAt, capsUsd: readonly number[]): string | undefined {
  if (capsUsd.length === 0)
    return '--warn-at has no cap to warn of: add --max-cost USD, --max-cost-per-day USD or --max-cost-by COLUMN=USD, or leave it out';
  const highest = Math.max(...capsUsd);
  if (!('usd' in warnAt) || warnAt.usd <= highest) return undefined;
  return `--warn-at ${formatMoney(toMicroDollars(warnAt.usd))} is never reached: the highest cap is ${formatMoney(toMicroDollars(highest))}; give a lower amount, or a share such as 80%`;
}
