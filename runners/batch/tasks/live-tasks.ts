import { lastValueFrom } from 'rxjs';
import { RowStates } from '../journal/rows/row-states.js';
import { liveItems } from '../manifest/live-items.js';
import { askedHash } from '../manifest/request-hash.js';
import { RowSample, sparse } from '../manifest/duplicates/row-sample.js';
import type { InvalidRow, ManifestItem, Row } from '../manifest/manifest-row.js';
import { asksForOther, decideRow, failsAsInvalid } from '../row/decide-row.js';
import { hashWithoutPictures } from '../uploads/create-picture-host.js';
import { delivered } from '../end/end-row.js';
import type { Run } from '../context/run.js';
import { isAllowed } from '../stop/exit-of.js';
import { isPending } from '../row/row-status.js';
import { rowFactsOf, isRead, type Task } from '../row/task.js';
import type { Stops } from '../stop/stops.js';

/**
 * The tasks of rows that arrive during the run, each as soon as a slot is free. A row whose id arrived before is not
 * sent again. If this start has it already, it is skipped, because its end is delivered once. If it ended in an earlier
 * start, its end is delivered again: the caller may have missed it.
 */
export async function* liveTasks(
  run: Run,
  rows: AsyncIterable<unknown> | Iterable<unknown>,
): AsyncGenerator<Task, void, void> {
  await deliverHeld(run);
  const items = liveItems(untilStopping(rows, run.stops), run.options.manifest.settings);
  const seen = new RowStates();
  const [sample, similar] = [new RowSample(), new RowSample([hashWithoutPictures])];
  let sampled = 0;
  for await (const item of items) {
    const known = item.valid ? seen.get(item.row.id) : undefined;
    if (item.valid && known === undefined)
      seen.set(item.row.id, { status: 'open', hash: askedHash(item.row) });
    const isOther = item.valid && asksForOther(item.row, known);
    const wanted =
      known === undefined ? await firstTask(run, item) : isOther ? otherRow(item.row) : undefined;
    const task = wanted !== undefined && 'problems' in wanted ? await refuse(run, wanted, seen) : wanted;
    if (task === undefined) continue;
    run.toDo.rows++;
    if (item.valid) {
      run.pictures.names.see(item.row.id);
      sample.add(item.row);
      similar.add(item.row);
      // Before it is sent, because the run may be killed, and rarely, because writing the notes takes some milliseconds.
      if (isPowerOfTwo(++sampled)) await run.noteRows({ sample: sample.hashes, similar: similar.hashes });
      await noteSparse(run, item.row);
      if (task.what === 'send' && !(await isAllowed(run.stops, run.announce(item.row)))) return;
    }
    yield task;
  }
}

/** Notes a row that is about to be sent, if it is one of the few that are noted wherever they stand: see `sparse`. */
export async function noteSparse(run: Run, row: Row): Promise<void> {
  if (isRead(row)) return;
  const [sample, similar] = [sparse(askedHash(row)), sparse(hashWithoutPictures(row))];
  if (sample.length + similar.length > 0) await run.noteRows({ sample, similar });
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}

/** Delivers rows whose requests were sent but not answered when the last start ended. */
async function deliverHeld(run: Run): Promise<void> {
  for (const { id, outcome } of run.reopened.held) {
    const { intent } = (await run.journal.journal.find(id)) ?? {};
    await lastValueFrom(delivered(run, { intent, outcome }));
  }
}

/** An invalid row ends once, however often it arrives; if it ended in an earlier start, its end is delivered again. */
async function refuse(run: Run, invalid: InvalidRow, seen: RowStates): Promise<Task | undefined> {
  const state = run.journal.journal.recovered.rows.get(invalid.key);
  if (!failsAsInvalid(state)) return deliverAgain(run, invalid.key);
  if (seen.get(invalid.key) !== undefined) return undefined;
  seen.set(invalid.key, { status: 'open' });
  return { what: 'refuse', invalid };
}

/** The task for a row that this start has not seen, or the row itself if it is invalid. */
async function firstTask(run: Run, item: ManifestItem): Promise<Task | InvalidRow | undefined> {
  const { recovered } = run.journal.journal;
  if (!item.valid) return item.row;
  const { row } = item;
  const state = recovered.rows.get(row.id);
  if (state?.status !== 'open' && asksForOther(row, state)) return otherRow(row);
  // The number of an arriving row does not show what a damaged journal may have lost.
  const mustHold = (id: string): boolean => recovered.mustHold(id, 0);
  const rules = { retry: run.options.retry, changed: 'keep' as const, mustHold };
  if (isPending(state?.status ?? 'open') || isContinued(run, row)) return undefined;
  const spec = decideRow(row, state, rules);
  if (spec === undefined || 'reopen' in spec) return deliverAgain(run, row.id);
  const problem = spec.what === 'send' ? problemOf(run, row) : undefined;
  if (problem !== undefined) return wrong(row, problem);
  return { row: rowFactsOf(row), attempts: state?.attempts ?? 0, ...spec };
}

/** Whether this start holds, polls or downloads the row: its end is then delivered when it comes. */
function isContinued({ options, reopened, journal }: Run, { id }: Row): boolean {
  const status = journal.journal.recovered.rows.get(id)?.status;
  if (status === 'deadline' || status === 'download') return options.retry.has(status);
  if (status === 'expired') return reopened.polled.has(id);
  return reopened.held.some((held) => held.id === id);
}

async function deliverAgain(run: Run, id: string): Promise<undefined> {
  const { intent, reply, outcome } = (await run.journal.journal.find(id)) ?? {};
  if (outcome !== undefined) await lastValueFrom(delivered(run, { intent, reply, outcome }));
  return undefined;
}

function otherRow(row: Row): InvalidRow {
  return wrong(row, 'is the id of another row, which came before; each row needs its own');
}

/** A problem for which the check of a whole manifest would have refused the start. */
function problemOf({ options, money: { prices, ledger } }: Run, row: Row): string | undefined {
  if (row.kind === 'route' && options.lbBaseUrl === undefined)
    return 'is a route, and routes need their host: {lb_base_url} is missing';
  if (row.kind !== 'route' && options.baseUrl === undefined)
    return 'needs the host of the queue API: {base_url} is missing';
  const isCapped = ledger.snapshot().cap !== undefined || options.maxCostPerDayUsd !== undefined;
  if (!isCapped || isRead(rowFactsOf(row)) || prices.priceOf(row) !== null) return undefined;
  return 'has no known price, so a cost cap cannot hold: give its endpoint a price (--prices), or assume one (--assume-price)';
}

function wrong({ row, line, id, hash, cells }: Row, message: string): InvalidRow {
  const key = `${id}~${hash.slice(0, 12)}`;
  return { row, line, id, key, problems: [{ message }], ownColumns: [], cells };
}

/**
 * A source that ends when the run stops, even while it waits for its next value. A Node stream is destroyed then; a
 * generator that is waiting is left.
 */
export async function* untilStopping<T>(
  source: AsyncIterable<T> | Iterable<T>,
  stops: Pick<Stops, 'leaving$' | 'isStopping'>,
): AsyncGenerator<T, void, void> {
  const iterator =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  let wake: () => void = () => undefined;
  const watching = stops.leaving$.subscribe(() => stops.isStopping && wake());
  try {
    while (!stops.isStopping) {
      const next = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        wake = () => resolve(undefined);
        Promise.resolve(iterator.next()).then(resolve, reject);
      });
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    watching.unsubscribe();
    Promise.resolve(iterator.return?.()).catch(() => undefined);
    if (stops.isStopping && isStream(source)) source.destroy();
  }
}

function isStream(source: object): source is { destroy(): unknown } {
  return 'destroy' in source && typeof source.destroy === 'function';
}
