import { toMicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { Run } from '../../context/run.js';
import type { Journal } from '../../journal/journal.js';
import { CapWatch } from '../../ledger/cap-watch.js';
import type { Ledger } from '../../ledger/ledger.js';
import { costByInForce } from '../../row/totals.js';
import { takenByValue } from '../../row/value-costs.js';
import { FullValues } from '../../stop/skipped-rows.js';
import type { Checked } from '../check/check-manifest.js';
import type { Opening } from '../hold-journal.js';
import type { DayMoney } from './day-money.js';

/** The money of a start: what its rows reserve from, their prices, and the caps that are watched. */
export function runMoney(
  opening: Opening & Pick<Run, 'log'>,
  checked: Checked,
  { journal, ledger, day }: { journal: Journal; ledger: Ledger; day: DayMoney | undefined },
): Run['money'] {
  const { options } = opening;
  const otherwise = checked.ahead.cap === undefined ? options.unlessCapped : undefined;
  const maxDriftPercent = options.maxPriceDriftPercent ?? otherwise?.maxPriceDriftPercent;
  const mostUsd = options.maxUnpricedUsd ?? otherwise?.maxUnpricedUsd;
  return {
    ledger: day?.behind(ledger) ?? ledger,
    shared: day,
    full: new FullValues(),
    prices: options.prices,
    maxDriftPercent,
    unagreed: unagreedOf(mostUsd, maxDriftPercent ?? 0, checked, options.scheduler.now()),
    watch: watchOf(opening, journal, ledger, day),
  };
}

/**
 * What rows that no list has the price of may cost, if there is a limit. Nobody was asked about less than it, or about more where
 * the service has reported a price before: that was the plan.
 */
function unagreedOf(
  mostUsd: number | undefined,
  drift: number,
  { ahead, unlisted }: Pick<Checked, 'ahead' | 'unlisted'>,
  since: number,
): Run['money']['unagreed'] {
  if (mostUsd === undefined) return undefined;
  const agreed = Math.max(toMicroDollars(mostUsd), Math.round(unlisted * (1 + drift / 100)));
  return { rows: ahead.price.unpriced, mostUsd, agreed, since, spent: 0 };
}

/** Warns about caps that are nearly used up. */
function watchOf(
  { options, events, log }: Opening & Pick<Run, 'log'>,
  { recovered }: Journal,
  ledger: Ledger,
  day: DayMoney | undefined,
): CapWatch | undefined {
  const { warnAt, maxCostPerDayUsd } = options;
  if (warnAt === undefined) return undefined;
  const { capsUsd } = costByInForce(options, recovered.costBy);
  return new CapWatch({
    warnAt,
    ledger,
    byValue: { capsUsd, taken: takenByValue(recovered.tally) },
    day: maxCostPerDayUsd === undefined || day === undefined ? undefined : () => day.taken(),
    warn: (message) => {
      log.write('warn', {}, message);
      events.next({ type: 'warning', code: 'warn-at', message });
    },
  });
}
