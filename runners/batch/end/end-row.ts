import {
  AsyncSubject,
  defaultIfEmpty,
  defer,
  from,
  ignoreElements,
  merge,
  of,
  takeUntil,
  type Observable,
} from 'rxjs';
import { formatMoney, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import { flow, lastOf, receive, type Steps } from '../../../src/operators/flow.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import type { RunEvent } from '../context/run-event.js';
import type {
  FailedRowFacts,
  IntentRecord,
  OutcomeRecord,
  ReplyRecord,
  SavedImage,
} from '../journal/record.js';
import { isUnlisted } from '../ledger/price-book.js';
import type { Cost } from '../row/costs.js';
import { endOfOutcome, type RowRecord } from '../row/record-head.js';
import { failedRecord, rowError } from '../row/records-of.js';
import type { RowFacts } from '../row/task.js';
import type { EndedRow } from '../sinks/line-text.js';
import { failureLine, type FailureLine } from '../sinks/failure-line.js';
import { resultLine, type ResultLine } from '../sinks/result-line.js';
import { noteDiskFault } from '../stop/exit-of.js';
import type { StopCause } from '../stop/stops.js';
import { purchaseName, stopCauses, whyDrifted, whyUnagreed } from '../stop/stop-causes.js';

/** The end of a row's purchase: the records for the journal, and the data for its lines. */
export interface Ending {
  readonly row: number;
  /**
   * The records to append to the journal, in one group. The last record decides what happens to the row: `outcome` ends
   * it, after `reply` its picture is still to be saved, and `reopen` after an outcome ends only the purchase.
   */
  readonly records: readonly RowRecord[];
  /** The intent of the purchase, even if it is in the journal already. */
  readonly intent?: IntentRecord | undefined;
  readonly reply?: ReplyRecord | undefined;
  /** The cost of the purchase, to be booked in the ledger; absent if nothing was reserved for it. */
  readonly bought?: { readonly facts: RowFacts; readonly cost: Cost } | undefined;
  /** Called when its lines are in the files, before it is delivered: a reader may wait for further rows. */
  readonly written?: (() => void) | undefined;
}

/**
 * Ends a row; all rows end here. Its records become durable, then its money is booked and its lines are written, then
 * it is delivered and reported, once. Lines that cannot be written stop the run; the next start writes them. Emits an
 * ended row. It continues without a subscriber, because the files are read as covering all outcomes up to the last
 * line.
 */
export function endRow(context: PurchaseContext, ending: Ending): Observable<EndedRow> {
  return defer(() => {
    const done = new AsyncSubject<EndedRow>();
    flow(() => leave(context, ending)).subscribe(done);
    return done;
  });
}

/** Ends a row that is wrong, and of which nothing was sent. */
export function* endInvalid(
  context: PurchaseContext,
  id: string,
  row: FailedRowFacts,
  message: string,
): Steps<never> {
  const outcome = failedRecord(id, rowError({ code: 'invalid-row', message, paid: 'no' }), {
    at: context.options.scheduler.now(),
    cost: null,
    source: 'none',
    statusCalls: 0,
    row,
  });
  yield* lastOf(endRow(context, { records: [outcome], row: row.row }));
}

function* leave(context: PurchaseContext, ending: Ending): Steps<EndedRow> {
  const { records, intent, reply, bought, row } = ending;
  const { journal, projections, options } = context;
  const numbers: number[] = [];
  const appended = merge(...records.map((record) => journal.append(record)));
  yield receive<number>(appended, { take: (number) => void numbers.push(number) });
  if (bought !== undefined) bookCost(context, bought, intent);
  const at = records.findIndex(({ k }) => k === 'outcome');
  const outcome = records[at] as OutcomeRecord | undefined;
  const number = numbers[at] ?? 0;
  if (outcome === undefined) return context.events.next(moneyEvent(context));
  const ended: EndedRow = { intent, reply, outcome };
  const isDouble = at < records.length - 1;
  // Together with the record, which the tally has counted: a summary that is written now must not count the row twice.
  if (!isDouble) context.toDo.rows = Math.max(context.toDo.rows - 1, 0);
  const lines = projections.write(ended, number, !isDouble);
  yield* lastOf(lines.catch((error: unknown) => noteDiskFault(context, error)));
  ending.written?.();
  if (isDouble) {
    warnOfDouble(context, outcome.id);
    return context.events.next(moneyEvent(context));
  }
  if (options.deliver !== undefined) yield* lastOf(delivered(context, ended));
  report(context, row, outcome);
  yield ended;
}

function report(context: PurchaseContext, row: number, outcome: OutcomeRecord): void {
  const { pictures, log, events, stops } = context;
  const { id, cost } = outcome;
  const status = endOfOutcome(outcome);
  if (outcome.status === 'completed' && outcome.image !== undefined) pictures.expiring.saved(id);
  if (outcome.image?.problem !== undefined) notePreview(context, id, outcome.image);
  const message = outcome.status === 'completed' ? undefined : outcome.error.message;
  const level = status === 'completed' ? 'info' : 'warn';
  log.write(level, { id, row, status, cost, ...(message && { message }) }, 'row ended');
  events.next({ type: 'ended', id, row, status, cost, ...(message !== undefined && { message }) });
  events.next(moneyEvent(context));
  const halted = stops.isStopping ? undefined : context.whyHalted?.(outcome);
  if (halted !== undefined) stops.stop(halted);
}

/** Warns once per start about an edit whose picture could not be fetched, so that the one in its reply was saved instead. */
function notePreview(
  { pictures, events }: Pick<PurchaseContext, 'pictures' | 'events'>,
  id: string,
  image: SavedImage,
): void {
  if (pictures.previews.edits++ > 0) return;
  const message = `Row ${previewText(id, image)} Others like it are counted at the end.`;
  events.next({ type: 'warning', code: 'picture', message });
}

/** Names the row, and says which picture it has. */
export function previewText(id: string, { path, problem = '' }: SavedImage): string {
  return `"${id}": the picture at the URL of its reply could not be fetched (${problem}). The one in the reply itself is saved as ${path}: it may be a smaller preview. \`refetch\` tries the URL again.`;
}

/** Reports that the row goes on with another purchase. */
export function warnOfDouble({ events }: Pick<PurchaseContext, 'events'>, id: string): void {
  const message = `Row "${id}" is sent again, though it may have been accepted: it may be paid twice.`;
  events.next({ type: 'warning', code: 'double', message });
}

/** Books the cost of a row's purchase; a purchase that may have been made is held. A cost that is not believable stops the run. */
function bookCost(
  context: PurchaseContext,
  { facts, cost: booked }: NonNullable<Ending['bought']>,
  intent: IntentRecord | undefined,
): void {
  const { money, stops } = context;
  const { cost, source, disbelieved } = booked;
  if (source === 'unknown') money.ledger.keepUnknown(facts.id);
  else if (source !== 'none') money.ledger.settle(facts.id, cost);
  money.watch?.look(facts);
  if (cost !== null && (source === 'reported' || source === 'estimated')) {
    // The time that a job took is known only now: its price may be above the one that was agreed to.
    if (source === 'reported' || cost > (money.prices.priceOf(facts) ?? 0)) notePrice(context, facts, cost);
    const above = money.unagreed && takeUnlisted(money.unagreed, money, { facts, cost, intent });
    if (above !== undefined) stops.stop(above);
  }
  // The real price is not known then.
  if (disbelieved !== undefined)
    stops.stop(stopCauses.costDisbelieved(facts.id, purchaseName(facts), { cost, disbelieved }));
}

export function moneyEvent({ money }: Pick<PurchaseContext, 'money'>): RunEvent {
  const { reserved, spent, unknown, cap } = money.ledger.snapshot();
  return { type: 'money', reserved, spent, unknown, ...(cap !== undefined && { cap }) };
}

/** Gives a reported price to the price book, and warns once for each kind of purchase if it differs from the book's. */
export function notePrice(
  { money, events, stops }: NotingPrices,
  row: RowFacts,
  reported: MicroDollars,
): void {
  const unagreed = money.prices.priceOf(row) === null ? money.unagreed : undefined;
  const seen = money.prices.observe(row, reported);
  const above = unagreed && whyUnagreed(row, reported, unagreed);
  if (above !== undefined) stops.stop(above);
  if (seen === 'as-expected') return;
  const { maxDriftPercent: limit } = money;
  const cause = limit === undefined ? undefined : whyDrifted(row, seen.drift, limit);
  if (cause !== undefined) stops.stop(cause);
  if (!seen.first) return;
  const message = `The service charges ${formatMoney(reported)} for ${purchaseName(row)}; ${formatMoney(seen.expected)} was expected. The higher price is reserved from now on.`;
  events.next({ type: 'warning', code: 'price', message });
}

/**
 * Adds up what rows have cost whose price is in no list, without the purchases of earlier starts. Returns why the run stops if that
 * is more than was agreed to. Over a database, the shared ledger does this for all workers.
 */
function takeUnlisted(
  unagreed: NonNullable<PurchaseContext['money']['unagreed']>,
  { prices, ledger }: PurchaseContext['money'],
  { facts, cost, intent }: Pick<Ending, 'intent'> & { readonly facts: RowFacts; readonly cost: MicroDollars },
): StopCause | undefined {
  if (ledger.isDecidedElsewhere === true) return undefined;
  if (!isUnlisted(prices.table(), facts)) return undefined;
  if (intent !== undefined && intent.at < unagreed.since) return undefined;
  unagreed.spent += cost;
  return unagreed.spent > unagreed.agreed ? stopCauses.spentUnagreed(unagreed) : undefined;
}

interface NotingPrices extends Pick<PurchaseContext, 'events' | 'stops'> {
  readonly money: Pick<PurchaseContext['money'], 'prices' | 'unagreed' | 'maxDriftPercent'>;
}

/** Passes the line of an ended row to `deliver` and waits for its promise, at most until the run stops. Emits once. */
export function delivered(
  { options, stops }: Pick<PurchaseContext, 'options' | 'stops'>,
  row: EndedRow,
): Observable<true> {
  return defer(() => {
    const line = options.deliver === undefined ? undefined : lineOf(row);
    if (line === undefined) return of(true as const);
    const taken = from(Promise.resolve(options.deliver?.(line)));
    return taken.pipe(takeUntil(stops.left('open')), ignoreElements(), defaultIfEmpty(true as const));
  });
}

/**
 * In the files an invalid row has a made-up id, so that the corrected row can have its own id. `deliver` gets the row
 * under its own id, which the caller knows.
 */
function lineOf(row: EndedRow): ResultLine | FailureLine | undefined {
  const line = resultLine(row) ?? failureLine(row);
  const { outcome } = row;
  if (outcome.status === 'completed' || outcome.error.code !== 'invalid-row') return line;
  const given = outcome.row?.cells['id'];
  const isName = (typeof given === 'string' && given !== '') || typeof given === 'number';
  return line !== undefined && isName ? { ...line, id: String(given) } : line;
}
