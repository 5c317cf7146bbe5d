import type { FailureCode } from '../../../../src/contract/failure-code.js';
import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { PriceBook } from '../../ledger/price-book.js';
import type { Totals } from '../../row/totals.js';
import type { JournalReader } from '../../journal/recovered-journal.js';
import { RowStates } from '../../journal/rows/row-states.js';
import type { RowStatus } from '../../row/row-status.js';
import { planManifest, type Plan } from '../../manifest/plan-manifest.js';
import type { ManifestItem, Row } from '../../manifest/manifest-row.js';
import type { Ahead } from './ahead.js';
import { capInForce, RowsUnderCap, type CapInForce } from '../money/cap-in-force.js';
import { decideRow, type Decision, type DecisionRules } from '../../row/decide-row.js';
import { KnownIds } from '../../tasks/known-ids.js';
import { PictureNames } from '../../pictures/picture-names.js';
import { readRows } from '../../tasks/read-rows.js';
import { NewlySent } from './newly-sent.js';
import { SameAhead } from './same-ahead.js';
import type { ResolvedOptions } from '../../context/resolve-options.js';
import type { Stops } from '../../stop/stops.js';
import { SelectRows } from '../../tasks/select-rows.js';
import { isRead } from '../../row/task.js';

/** What the first pass over a manifest brings to light. Nothing has been sent. */
export interface Checked {
  readonly plan: Plan;
  readonly ahead: Ahead;
  readonly names: PictureNames;
  /** Rows of the manifest that earlier starts left unfinished. */
  readonly pending: ReadonlySet<string>;
  /** Rows that failed as invalid, and are in the manifest still. */
  readonly invalid: RowStates;
  /** Columns of the first row, in their order. */
  readonly columns: readonly string[];
}

/** What the journal knows, if there is one yet. */
interface Known {
  readonly rows: Pick<RowStates, 'get' | 'indexOf' | 'size'>;
  readonly mustHold: DecisionRules['mustHold'];
  readonly totals?: Totals;
  readonly capUsd?: number | null;
}

/** Of a run that has not begun. */
const nothingKnown: Known = {
  rows: { get: () => undefined, indexOf: () => -1, size: 0 },
  mustHold: () => false,
};

/**
 * Reads the manifest to its end: what is wrong with it, what it would cost, and what of it is still to be done.
 *
 * @param journal absent: the run has not begun
 */
export async function checkManifest(
  options: ResolvedOptions,
  journal: Pick<JournalReader, 'recovered' | 'records'> | undefined,
  stops: Pick<Stops, 'isStopping'>,
): Promise<Checked> {
  const known = journal?.recovered ?? nothingKnown;
  const survey = new Survey(options, known, stops);
  const newlySent = await NewlySent.after(journal);
  const rules = { retry: options.retry, changed: options.changed, mustHold: known.mustHold };
  const same = new SameAhead(options, known, rules);
  let separatedBy: string | undefined;
  const settings = { ...options.manifest.settings, separatedBy: (name: string) => (separatedBy = name) };
  const manifest = { ...options.manifest, settings };
  const read = () => readRows(options.disk, manifest, new KnownIds(known.rows));
  const plan = await planManifest(read(), {
    priceOf: (row) => options.prices.priceOf(row),
    see: (item) => {
      survey.see(item);
      if (item.valid) newlySent.see(item.row.columnUse);
    },
    separatedBy: () => separatedBy,
    again: read,
    seeAgain: (row, line) => same.see(row, line),
  });
  return {
    plan,
    ahead: { ...survey.ahead(), same: same.told(), newlySent: newlySent.names() },
    names: survey.names,
    pending: survey.pending,
    invalid: survey.invalid,
    columns: survey.columns ?? [],
  };
}

/** The run was told to stop before it began. */
export class StoppedEarly extends Error {}

const idsShown = 20;

/** Whether a row that failed so is taken up by this start. */
export function goesOn(
  status: FailureCode,
  id: string,
  { retry, only }: Pick<ResolvedOptions, 'retry' | 'only'>,
): boolean {
  return retry.has(status) && only?.has(id) !== false;
}

/** Whether a request that was out when the last start ended is sent again by this one. */
export function isDoubled(
  row: Row,
  status: RowStatus | undefined,
  { onUnknown, only }: Pick<ResolvedOptions, 'onUnknown' | 'only'>,
): boolean {
  return status === 'sent' && onUnknown === 'retry' && only?.has(row.id) !== false && !isRead(row);
}

/** What a row is reckoned with before it is sent; `null`: nobody knows. */
export function priceOf(row: Row, prices: Pick<PriceBook, 'priceOf'>): MicroDollars | null {
  return isRead(row) ? 0 : prices.priceOf(row);
}

class Survey {
  readonly names = new PictureNames();
  readonly pending = new Set<string>();
  readonly invalid = new RowStates();
  columns: readonly string[] | undefined;
  private readonly select: SelectRows;
  private readonly rules: DecisionRules;
  private readonly endpoints = new Set<string>();
  private readonly changedIds: string[] = [];
  private readonly replacedIds: string[] = [];
  private readonly price = { estimated: 0, unpriced: 0 };
  private readonly count = {
    ...{ rows: 0, ended: 0, toSend: 0, retried: 0, redone: 0, toPoll: 0, toDownload: 0, toHold: 0, later: 0 },
    ...{ doubled: 0, invalid: 0, changed: 0, changedFailures: 0, replaced: 0, known: 0 },
  };
  private readonly cap: CapInForce | undefined;
  private readonly fitting: RowsUnderCap;

  constructor(
    private readonly options: ResolvedOptions,
    private readonly known: Known,
    private readonly stops: Pick<Stops, 'isStopping'>,
  ) {
    this.select = new SelectRows(options);
    this.cap = capInForce(options, known.capUsd);
    this.fitting = new RowsUnderCap(this.cap, known.totals);
    this.rules = { retry: options.retry, changed: options.changed, mustHold: known.mustHold };
  }

  see(item: ManifestItem): void {
    if (this.stops.isStopping) throw new StoppedEarly();
    this.count.rows++;
    this.columns ??= Object.keys(item.row.cells);
    if (item.valid) this.seeValid(item.row);
    else this.seeInvalid(item.row.key);
  }

  ahead(): Omit<Ahead, 'same' | 'newlySent'> {
    const { changed, replaced, known, ...count } = this.count;
    return {
      ...count,
      // Of rows that are yet to arrive nobody knows that they will not; ids that are repeated count twice.
      gone: this.options.manifest.live === undefined ? Math.max(0, this.known.rows.size - known) : 0,
      changed: { count: changed, ids: this.changedIds },
      replaced: { count: replaced, ids: this.replacedIds },
      price: this.price,
      ...(this.cap && { cap: { ...this.cap, left: this.fitting.left } }),
      fits: { rows: this.fitting.rows, estimated: this.fitting.estimated },
      endpoints: [...this.endpoints],
      missing: this.select.missing(),
    };
  }

  private seeValid(row: Row): void {
    this.names.see(row.id);
    this.select.see(row.id);
    const state = this.known.rows.get(row.id);
    if (state !== undefined) this.count.known++;
    if (state?.status === 'invalid-row') this.invalid.set(row.id, state);
    const decision = decideRow(row, state, this.rules);
    if (decision.what === 'leave') this.seeLeft(row, decision);
    else if (decision.what === 'pending') this.seePending(row, state?.status);
    else if (this.select.takes(row.id)) this.seeTaken(row, decision);
    else this.count['reopen' in decision ? 'ended' : 'later']++;
  }

  private seeInvalid(key: string): void {
    const state = this.known.rows.get(key);
    const isTold = state?.status === 'invalid-row';
    if (state !== undefined) this.count.known++;
    if (isTold) this.invalid.set(key, { status: 'invalid-row' });
    this.count[isTold ? 'ended' : 'invalid']++;
  }

  private seeLeft(row: Row, { changed, status }: Extract<Decision, { what: 'leave' }>): void {
    // What has an id or a picture to be had is taken up from the journal, not from the manifest.
    if (status === 'open') this.seeReplaced(row.id);
    else if (status === 'deadline' && goesOn(status, row.id, this.options)) this.count.toPoll++;
    else if (status === 'download' && goesOn(status, row.id, this.options)) this.count.toDownload++;
    else this.count.ended++;
    if (!changed()) return;
    if (status !== 'completed') this.count.changedFailures++;
    else {
      this.count.changed++;
      if (this.changedIds.length < idsShown) this.changedIds.push(row.id);
    }
  }

  private seeReplaced(id: string): void {
    this.count.later++;
    this.count.replaced++;
    if (this.replacedIds.length < idsShown) this.replacedIds.push(id);
  }

  private seePending(row: Row, status: RowStatus | undefined): void {
    this.pending.add(row.id);
    if (!isDoubled(row, status, this.options)) return;
    this.count.doubled++;
    this.addPrice(row);
  }

  private seeTaken(row: Row, decision: Exclude<Decision, { what: 'leave' | 'pending' }>): void {
    if (decision.what === 'collect') this.count.toPoll++;
    else if (decision.what === 'fetch') this.count.toDownload++;
    else if (decision.what === 'hold') this.count.toHold++;
    else this.seeSent(row, decision.reopen);
  }

  private seeSent(row: Row, reopen: 'retry' | 'redo' | undefined): void {
    this.count.toSend++;
    if (reopen === 'retry') this.count.retried++;
    if (reopen === 'redo') this.count.redone++;
    if (row.kind !== 'route' && this.endpoints.size < 1_000) this.endpoints.add(row.endpoint);
    this.addPrice(row);
  }

  private addPrice(row: Row): void {
    const price = priceOf(row, this.options.prices);
    this.fitting.add(price);
    if (price === null) this.price.unpriced++;
    else this.price.estimated += price;
  }
}
