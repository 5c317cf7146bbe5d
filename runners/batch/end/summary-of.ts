import { concat, concatMap, defer, finalize, interval, lastValueFrom, of, takeUntil, Subject } from 'rxjs';
import type { FailureCode } from '../../../src/contract/failure-code.js';
import { toUsd, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import { listPrices } from '../ledger/price-book.js';
import { isoTime } from '../sinks/ended-row.js';
import type { FilesCovered } from '../sinks/spreadsheet.js';
import { type CostSummary, type Summary, writeSummary } from '../sinks/summary-file.js';
import { isEnd, type RowStatus } from '../row/row-status.js';
import type { Totals } from '../row/totals.js';
import type { Run } from '../context/run.js';
import type { RunEnd } from '../stop/worst-end.js';
import { noteDiskFault } from '../stop/exit-of.js';
import { keepPolling } from '../context/learned-polling.js';

/** What summary.json says at this moment. */
export function summaryOf(run: Run, covers: FilesCovered | undefined, end?: RunEnd): Summary {
  const { options, startedAt, journal } = run;
  const totals = journal.tally.totals();
  const { firstStartAt = startedAt, starts } = journal.journal.recovered;
  const completed = totals.rows.get('completed') ?? 0;
  const failures = failureCounts(totals.rows);
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
  const { ratePerSecond: rate } = options.gate;
  const { ended, completed: nowCompleted, failed: nowFailed, unknown } = journal.tally.thisStart;
  const isLive = options.manifest.live !== undefined;
  return {
    rows: {
      // A manifest may have lost rows that earlier starts have done: they stand in the files, and count.
      total: Math.max(isLive ? 0 : run.ahead.rows, completed + failed + run.toDo.rows - run.taken.kept),
      completed,
      failed,
      toDo: run.toDo.rows,
    },
    failures,
    cost: costOf(run, totals),
    times: {
      firstStartAt: isoTime(firstStartAt),
      startedAt: isoTime(startedAt),
      ...(end && { endedAt: isoTime(options.scheduler.now()) }),
    },
    statusCalls: totals.statusCalls,
    starts: starts + 1,
    thisStart: {
      concurrency: run.service.slots.limit,
      ...(rate !== undefined && { rate: Math.round(rate * 10) / 10 }),
      ended,
      completed: nowCompleted,
      failed: nowFailed,
      unknown,
      ...(run.service.reach.message !== undefined && { unreached: run.service.reach.message }),
      ...end,
    },
    ...pricesOf(run),
    ...(covers && { covers }),
  };
}

/** Failed rows by code. */
export function failureCounts(rows: ReadonlyMap<RowStatus, number>): Partial<Record<FailureCode, number>> {
  const counts = [...rows].filter(([status]) => status !== 'completed' && isEnd(status));
  return Object.fromEntries(counts);
}

function costOf({ money: { ledger } }: Run, totals: Totals): CostSummary {
  const { drift, cap, spent, reserved } = ledger.snapshot();
  return {
    ...costSummary(totals, spent),
    ...(reserved > 0 && { reserved: toUsd(reserved) }),
    drift: toUsd(drift),
    ...(cap !== undefined && { cap: toUsd(cap) }),
  };
}

/**
 * The money of all starts, in USD.
 *
 * @param all what was spent, on rows that have not ended as well, in millionths of a dollar
 */
export function costSummary(
  { ended, possiblyDouble, spent }: Totals,
  all: MicroDollars = spent.reported + spent.estimated,
): Omit<CostSummary, 'drift' | 'cap' | 'reserved'> {
  const { reported, estimated, unknown, unpriced, byResolution } = ended;
  const unsaved = all - reported - estimated;
  return {
    reported: toUsd(reported),
    estimated: toUsd(estimated),
    unknown: toUsd(unknown),
    possiblyDouble: toUsd(possiblyDouble),
    ...(unsaved > 0 && { unsaved: toUsd(unsaved) }),
    unpriced,
    byResolution: Object.fromEntries(
      [...byResolution]
        .filter(([, { purchases, unknown }]) => purchases > 0 || unknown > 0)
        .map(([resolution, { purchases, reported, estimated, unknown }]) => [
          resolution,
          { purchases, reported: toUsd(reported), estimated: toUsd(estimated), unknown: toUsd(unknown) },
        ]),
    ),
  };
}

function pricesOf({ money: { prices } }: Run): Pick<Summary, 'prices' | 'priceTable'> {
  const { name, prices: listed, reported } = listPrices(prices.table());
  return { prices: listed, priceTable: { name, ...(Object.keys(reported).length > 0 && { reported }) } };
}

const everyMs = 5_000;

/**
 * Writes summary.json at once and every few seconds while the run goes, and makes durable what the other files hold by then.
 *
 * @returns ends that; resolves when nothing is being written any more.
 */
export function keepSummary(run: Run): () => Promise<void> {
  const { options, projections } = run;
  const over = new Subject<void>();
  const write = async (): Promise<void> => {
    try {
      const covers = await projections.sync();
      await writeSummary(options.disk, options.out, summaryOf(run, covers));
      await keepPolling(run);
    } catch (error) {
      noteDiskFault(run, error);
    }
  };
  const beats = concat(of(0), interval(everyMs, options.scheduler)).pipe(
    takeUntil(over),
    concatMap(() => defer(write)),
    finalize(() => over.complete()),
  );
  const ended = lastValueFrom(beats, { defaultValue: undefined });
  return async () => {
    over.next();
    await ended;
  };
}
