import type { Journal } from '../../journal/journal.js';
import { DayMoney } from './day-money.js';
import { exitOf } from '../../stop/exit-of.js';
import { reconcileDay } from './reconcile-day.js';
import type { ResolvedOptions } from '../../context/resolve-options.js';
import type { Stops } from '../../stop/stops.js';

/** The run's part in the ledger that runs share, if it has one, with what earlier starts left there put right. */
export async function openDay(
  { dayLedger }: Pick<ResolvedOptions, 'dayLedger'>,
  stops: Stops,
  journal: Journal,
): Promise<DayMoney | undefined> {
  if (dayLedger === undefined) return undefined;
  const shared = await dayLedger();
  await reconcileDay(shared, journal);
  return new DayMoney(shared, (error) => stops.stop({ ...exitOf(error), leaves: ['submits'] }));
}
