import type { Run } from '../../context/run.js';
import type { Journal } from '../../journal/journal.js';
import { CapWatch } from '../../ledger/cap-watch.js';
import type { Ledger } from '../../ledger/ledger.js';
import { costByInForce } from '../../row/totals.js';
import { takenByValue } from '../../row/value-costs.js';
import { FullValues } from '../../stop/skipped-rows.js';
import type { Ahead } from '../check/ahead.js';
import type { Checked } from '../check/check-manifest.js';
import type { Opening } from '../hold-journal.js';
import type { DayMoney } from './day-money.js';

/** The money of a start: what its rows reserve from, their prices, and the caps that are watched. */
export function runMoney(
  opening: Opening & Pick<Run, 'log'>,
  { ahead }: Checked,
  { journal, ledger, day }: { journal: Journal; ledger: Ledger; day: DayMoney | undefined },
): Run['money'] {
  const { options } = opening;
  const otherwise = ahead.cap === undefined ? options.unlessCapped : undefined;
  return {
    ledger: day?.behind(ledger) ?? ledger,
    shared: day,
    full: new FullValues(),
    prices: options.prices,
    maxDriftPercent: options.maxPriceDriftPercent ?? otherwise?.maxPriceDriftPercent,
    unagreed: unagreedOf(options.maxUnpricedUsd ?? otherwise?.maxUnpricedUsd, ahead),
    watch: watchOf(opening, journal, ledger, day),
  };
}

/** The number of rows without a known price, if there is a limit for their total cost. */
function unagreedOf(mostUsd: number | undefined, { price }: Pick<Ahead, 'price'>): Run['money']['unagreed'] {
  return mostUsd === undefined ? undefined : { rows: price.unpriced, mostUsd };
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
