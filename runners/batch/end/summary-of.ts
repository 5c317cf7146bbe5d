import { concat, concatMap, defer, finalize, interval, lastValueFrom, of, takeUntil, Subject } from 'rxjs';
import type { FailureCode } from '../../../src/contract/failure-code.js';
import { toUsd, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import { listPrices } from '../ledger/price-book.js';
import { isoTime } from '../sinks/line-text.js';
import type { FilesCovered } from '../sinks/spreadsheet.js';
import {
  type ColumnCosts,
  type CostSummary,
  type PendingRows,
  type Summary,
  type ValueSummary,
  writeSummary,
} from '../sinks/summary-file.js';
import { isEnd, type RowStatus } from '../row/row-status.js';
import { otherValues } from '../ledger/value-caps.js';
import type { KeptTally, Totals } from '../row/totals.js';
import { costsByValue, type ValueCosts } from '../row/value-costs.js';
import type { Run } from '../context/run.js';
import type { RunEnd } from '../stop/worst-end.js';
import { noteDiskFault } from '../stop/exit-of.js';
import { keepPolling } from '../context/learned-polling.js';

/** The current content of summary.json. */
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
      // Also counts rows of earlier starts that are no longer in the manifest, because they are in the files.
      total: Math.max(isLive ? 0 : run.ahead.rows, completed + failed + run.toDo.rows - run.reopened.kept),
      completed,
      failed,
      toDo: run.toDo.rows,
    },
    ...pendingOf(totals),
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
      ...(run.callbacks?.counts && { callbacks: run.callbacks.counts }),
      ...end,
    },
    ...pricesOf(run),
    ...(covers && { covers }),
  };
}

/** The rows of the last summary, by a journal that is newer: after a crash it has ends that the summary lacks. */
export function rowsSince(before: Summary['rows'], { rows }: Totals): Summary['rows'] {
  const completed = rows.get('completed') ?? 0;
  const failed = Object.values(failureCounts(rows)).reduce((sum, count) => sum + count, 0);
  const ended = completed + failed - before.completed - before.failed;
  return { total: before.total, completed, failed, toDo: Math.max(before.toDo - ended, 0) };
}

export function pendingRows({ rows }: Totals): PendingRows {
  const count = (status: keyof PendingRows): number => rows.get(status) ?? 0;
  return { sent: count('sent'), accepted: count('accepted'), replied: count('replied') };
}

/** The pending rows for a summary; `undefined` if there are none. */
export function pendingOf(totals: Totals): Pick<Summary, 'pending'> {
  const pending = pendingRows(totals);
  return { pending: pending.sent + pending.accepted + pending.replied > 0 ? pending : undefined };
}

export function failureCounts(rows: ReadonlyMap<RowStatus, number>): Partial<Record<FailureCode, number>> {
  const counts = [...rows].filter(([status]) => status !== 'completed' && isEnd(status));
  return Object.fromEntries(counts);
}

function costOf({ money: { ledger }, journal }: Run, totals: Totals): CostSummary {
  const { drift, cap, spent, reserved } = ledger.snapshot();
  return {
    ...costSummary(totals, spent),
    ...costsBySummary(journal.tally.kept),
    ...(reserved > 0 && { reserved: toUsd(reserved) }),
    drift: toUsd(drift),
    ...(cap !== undefined && { cap: toUsd(cap) }),
  };
}

/**
 * The money of all starts, in US dollars.
 *
 * @param all the money spent, including rows that have not ended, in millionths of a dollar
 */
export function costSummary(
  { ended, possiblyDouble, spent }: Totals,
  all: MicroDollars = spent.reported + spent.estimated,
): Omit<CostSummary, 'drift' | 'cap' | 'reserved' | 'by'> {
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

const valuesShown = 100;

/**
 * The money and rows of all starts, by the values of each column that the run adds up by. Values with the highest costs are
 * listed separately, the others together.
 */
export function costsBySummary(tally: Pick<KeptTally, 'columns' | 'accounts'>): Pick<CostSummary, 'by'> {
  if (tally.columns.length === 0) return {};
  const by = [...costsByValue(tally)].map(([column, costs]): [string, ColumnCosts] => {
    const all = [...costs].filter(
      ([, { purchases, unknown, rows }]) => purchases + unknown + rows.completed + rows.failed > 0,
    );
    const amount = ({ reported, estimated, unknown }: ValueCosts): MicroDollars =>
      reported + estimated + unknown;
    all.sort(([a, one], [b, other]) => amount(other) - amount(one) || (a < b ? -1 : 1));
    const shown = all.filter(([value]) => value !== otherValues).slice(0, valuesShown);
    const names = new Set(shown.map(([value]) => value));
    const others = all.filter(([value]) => !names.has(value));
    return [
      column,
      {
        values: Object.fromEntries(shown.map(([value, sum]) => [value, valueSummary([sum])])),
        ...(others.length > 0 && {
          others: { values: others.length, ...valueSummary(others.map(([, sum]) => sum)) },
        }),
      },
    ];
  });
  return { by: Object.fromEntries(by) };
}

function valueSummary(costs: readonly ValueCosts[]): ValueSummary {
  const sum = (of: (one: ValueCosts) => number): number => costs.reduce((total, one) => total + of(one), 0);
  return {
    purchases: sum(({ purchases }) => purchases),
    reported: toUsd(sum(({ reported }) => reported)),
    estimated: toUsd(sum(({ estimated }) => estimated)),
    unknown: toUsd(sum(({ unknown }) => unknown)),
    completed: sum(({ rows }) => rows.completed),
    failed: sum(({ rows }) => rows.failed),
    held: sum(({ rows }) => rows.unknown),
    undownloaded: sum(({ rows }) => rows.download),
  };
}

function pricesOf({ money: { prices } }: Run): Pick<Summary, 'prices' | 'priceTable'> {
  const { name, prices: listed, reported } = listPrices(prices.table());
  return { prices: listed, priceTable: { name, ...(Object.keys(reported).length > 0 && { reported }) } };
}

const everyMs = 5_000;

/**
 * Writes summary.json at once and every few seconds during the run, and makes the other files durable each time.
 *
 * @param keepMore Called after each summary, to save further data during the run.
 * @returns a function that stops this, and resolves once nothing is being written
 */
export function keepSummary(run: Run, keepMore: () => Promise<void>): () => Promise<void> {
  const { options, projections } = run;
  const over = new Subject<void>();
  const write = async (): Promise<void> => {
    try {
      const covers = await projections.sync();
      await writeSummary(options.disk, options.out, summaryOf(run, covers));
      await keepPolling(run);
      await keepMore();
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
