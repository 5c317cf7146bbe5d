import { type Totals, type CostBy, costByInForce, type KeptTally, trackedColumns } from '../../row/totals.js';
import { RowsInManifest, RowStates, type RowState } from '../../journal/rows/row-states.js';
import { isPending, type EndStatus, type RowStatus } from '../../row/row-status.js';
import { failureCodes } from '../../../../src/contract/failure-code.js';
import type { Recovered } from '../../journal/journal.js';
import type { TaskSpec } from '../../row/task.js';
import { isRead, type ManifestItem, type Row } from '../../manifest/manifest-row.js';
import { pathsInForce } from '../../artifacts/output-path.js';
import type { Ahead } from './ahead.js';
import { capInForce, type CapInForce, type RowsUnderCap, rowsUnderCaps } from '../money/cap-in-force.js';
import {
  decideRow,
  failsAsInvalid,
  rulesOf,
  hasChanged,
  isOutdated,
  isReplacedHere,
  type ManifestRules,
  sentAs,
} from '../../row/decide-row.js';
import { addPrice, type MicroDollars } from '../../../../src/contract/micro-dollars.js';
import { isUnlisted, rowPrice, type PriceTable } from '../../ledger/price-book.js';
import { isDoubled, isFree, isRetried, isUnanswered } from '../../row/left-rows.js';
import { PictureNames } from '../../pictures/picture-names.js';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import type { Stops } from '../../stop/stops.js';
import { ValueSurvey } from '../money/value-survey.js';
import { SelectRows } from '../../manifest/rows/row-selection.js';
import { SameTally } from '../../manifest/duplicates/same-requests.js';
import { askedHash } from '../../manifest/request-hash.js';
import { requestKey } from '../../lock/key-file.js';
import { hasLocalPictures } from '../../uploads/create-picture-host.js';
import type { HashList } from './spooled-chunks.js';

/** What the journal knows about rows, if there is a journal yet. */
export interface JournalRows {
  readonly rows?: Pick<RowStates, 'get' | 'indexOf' | 'size' | 'earlierOf' | 'haveOther'>;
  readonly pending?: Recovered['pending'];
  readonly mustHold?: ManifestRules['mustHold'];
  readonly leftUnknown?: ManifestRules['leftUnknown'];
  readonly totals?: Totals;
  readonly capUsd?: number | null;
  readonly costBy?: CostBy;
  readonly saveOutput?: readonly string[];
  readonly tally?: Pick<KeptTally, 'columns' | 'accounts'>;
}

/** The run was stopped before it began. */
class StoppedEarly extends Error {}

const shown = 20;

interface Noted<T> {
  count: number;
  readonly first: T[];
}

function note<T>(found: Noted<T>, one: T): void {
  if (++found.count <= shown) found.first.push(one);
}

/** Counts what a start would do with each row of the manifest, in one pass over it. */
export class StartSurvey {
  readonly names = new PictureNames();
  /** The requests that this start sends, by `requestKey`, because another run may be about to send them as well. */
  readonly requests: HashList | undefined;
  /** There are others, with pictures that are uploaded. */
  hasUploads = false;
  readonly pending = new Set<string>();
  readonly pendingHeld = new Set<string>();
  readonly invalid = new RowStates();
  readonly inManifest: RowsInManifest;
  columns: readonly string[] | undefined;
  private readonly select: SelectRows;
  private readonly rules: ManifestRules;
  private readonly endpoints = new Set<string>();
  /** The rows that have changed since they were bought. */
  readonly changed: Noted<Row> = { count: 0, first: [] };
  private readonly replaced: Noted<string> = { count: 0, first: [] };
  private readonly price = { estimated: 0, unpriced: 0 };
  /** The price of the rows that are sent and whose price is in no list, by what the service has reported before. */
  unlisted: MicroDollars = 0;
  private readonly listed: PriceTable;
  private firstUnpriced: Ahead['firstUnpriced'];
  private readonly count = {
    rows: 0,
    ended: 0,
    toSend: 0,
    retried: 0,
    redone: 0,
    toPoll: 0,
    toDownload: 0,
    toHold: 0,
    unanswered: 0,
    later: 0,
    heldPaid: 0,
    retriedUnknown: 0,
    reopened: 0,
    doubled: 0,
    invalid: 0,
    changedFailures: 0,
    known: 0,
  };
  private readonly cap: CapInForce | undefined;
  private readonly fitting: RowsUnderCap;
  /** Absent if costs are not added up by a column. */
  private readonly values: ValueSurvey | undefined;
  private readonly outdated = new SameTally();

  constructor(
    private readonly options: ResolvedOptions,
    private readonly known: JournalRows,
    private readonly start: {
      readonly stops: Pick<Stops, 'isStopping'>;
      /** Rows that ended as expired and whose jobs are polled once more. */
      readonly polledOnceMore: ReadonlySet<string>;
      readonly newRequests?: (() => HashList) | undefined;
    },
  ) {
    this.requests = start.newRequests?.();
    this.select = new SelectRows(options);
    this.listed = options.prices.table();
    this.inManifest = new RowsInManifest(known.rows);
    this.cap = capInForce(options, known.capUsd);
    const costBy = costByInForce(options, known.costBy);
    this.values = trackedColumns(costBy).length > 0 ? new ValueSurvey(costBy) : undefined;
    this.fitting = rowsUnderCaps(this.cap, costBy, known);
    this.rules = rulesOf(options, known);
  }

  see(item: ManifestItem): void {
    if (this.start.stops.isStopping) throw new StoppedEarly();
    this.count.rows++;
    this.columns ??= Object.keys(item.row.cells);
    if (item.valid) this.seeValid(item.row);
    else this.seeInvalid(item.row.key);
  }

  /** Whether this start does only some rows, which depend on the order in which rows are seen. */
  get dependsOnOrder(): boolean {
    const { toSend, doubled } = this.count;
    return this.select.isFull || this.fitting.rows < toSend + doubled;
  }

  /** Counts rows that need not be read: they ended with the content that is in the manifest. */
  leaveOut(rows: number): void {
    for (const name of ['rows', 'ended', 'known'] as const) this.count[name] += rows;
    this.inManifest.leaveOut(rows);
  }

  ahead(): Omit<Ahead, 'same' | 'newlySent'> {
    const { known, ...count } = this.count;
    const outdated = this.outdated.result();
    const saves = pathsInForce(this.options, this.known);
    return {
      ...count,
      // A live manifest may deliver these rows later. Repeated ids count twice, so the difference may be negative.
      gone: this.options.manifest.live === undefined ? Math.max(0, (this.known.rows?.size ?? 0) - known) : 0,
      changed: { count: this.changed.count, ids: this.changed.first.map(({ id }) => id) },
      replaced: { count: this.replaced.count, ids: this.replaced.first },
      price: this.price,
      ...(this.firstUnpriced && { firstUnpriced: this.firstUnpriced }),
      ...(this.cap && { cap: { ...this.cap, left: this.fitting.left } }),
      fits: { rows: this.fitting.rows, estimated: this.fitting.estimated },
      endpoints: [...this.endpoints],
      ...(this.values && { by: this.values.ahead() }),
      missing: this.select.missing(),
      ...(this.select.areApart && { areApart: true as const }),
      ...(outdated.rows > 0 && { outdated }),
      ...(saves.length > 0 && { saves }),
      ...this.unknownColumns(),
    };
  }

  /** Only the columns given to this start are checked: a run that goes on may have lost a column that it remembers. */
  private unknownColumns(): Pick<Ahead, 'unknownColumns'> {
    const { costBy, maxCostByUsd } = this.options;
    const given = [...(costBy ?? []), ...Object.keys(maxCostByUsd ?? {})];
    const unknownColumns = this.values?.missing(given, this.columns ?? []) ?? [];
    return this.count.rows > 0 && unknownColumns.length > 0 ? { unknownColumns } : {};
  }

  private seeValid(row: Row): void {
    this.names.see(row.id);
    this.values?.see(row);
    if (this.options.only !== undefined) this.select.see(row);
    const state = this.known.rows?.get(row.id);
    if (state !== undefined) this.count.known++;
    const hash = sentAs(row, state);
    if (hash !== undefined) this.inManifest.add(row.id, hash);
    if (state?.status === 'invalid-row') this.invalid.set(row.id, state);
    const task = decideRow(row, state, this.rules);
    if (task === undefined) this.seeLeft(row, state);
    else if (this.select.takes(row)) this.seeTaken(row, task, state);
    else if (!('reopen' in task)) this.count.later++;
    else {
      this.count.ended++;
      this.seeChanged(row, state, task.reopen === 'redo');
    }
  }

  private seeInvalid(key: string): void {
    const state = this.known.rows?.get(key);
    if (state !== undefined) this.count.known++;
    if (state?.status === 'invalid-row') this.invalid.set(key, { status: 'invalid-row' });
    if (state !== undefined && isPending(state.status)) {
      this.pending.add(key);
      this.pendingHeld.add(key);
      if (this.isUnknown(key)) this.count.unanswered++;
    } else this.count[failsAsInvalid(state) ? 'invalid' : 'ended']++;
  }

  private seeLeft(row: Row, state: RowState | undefined): void {
    const status = state?.status ?? 'open';
    if (isPending(status)) return this.seePending(row, status, state);
    // Rows that have a job id or a picture to download are continued from the journal, not from the manifest.
    if (status === 'open') this.count.later++;
    if (isReplacedHere(row, state, this.rules)) note(this.replaced, row.id);
    if (status === 'open') return;
    const going = this.goingOn(row, status);
    this.count[going ?? 'ended']++;
    this.seeChanged(row, state, going !== undefined || status === 'completed');
  }

  /** How a row that had ended goes on from the journal; `undefined` if it stays as it is. */
  private goingOn(row: Row, status: EndStatus): 'toPoll' | 'toDownload' | undefined {
    if (this.start.polledOnceMore.has(row.id)) return 'toPoll';
    if (status !== 'deadline' && status !== 'download') return undefined;
    if (!isRetried(status, row, this.options)) return undefined;
    return status === 'deadline' ? 'toPoll' : 'toDownload';
  }

  /** @param isBought it was bought, or its job may still turn out to be; if not, it has failed */
  private seeChanged(row: Row, state: RowState | undefined, isBought: boolean): void {
    if (!hasChanged(row, state, this.rules)) return;
    if (isBought) note(this.changed, row);
    else this.count.changedFailures++;
  }

  private seePending(row: Row, status: RowStatus, state: RowState | undefined): void {
    this.pending.add(row.id);
    if (state?.isReplaced(row) === true) this.pendingHeld.add(row.id);
    const isSentAgain = isDoubled(row, state, this.options);
    if (isSentAgain) this.count.doubled++;
    else if (this.isUnknown(row.id)) this.count.unanswered++;
    if (isSentAgain) {
      this.announce(row);
      this.addPrice(row);
    } else this.seeChanged(row, state, status !== 'sent');
  }

  private isUnknown(id: string): boolean {
    const left = this.known.pending?.get(id);
    return left !== undefined && isUnanswered(left) && !isFree(left);
  }

  private seeTaken(row: Row, task: TaskSpec, state: RowState | undefined): void {
    if (task.what === 'poll') this.count.toPoll++;
    else if (task.what === 'fetch') this.count.toDownload++;
    else if (task.what === 'hold') {
      this.count.toHold++;
      if (failureCodes[task.code].paid === 'yes') this.count.heldPaid++;
    }
    if (task.what !== 'send') return;
    this.count.toSend++;
    this.announce(row);
    if (task.reopen === 'retry') this.count.retried++;
    if (state?.status === 'unknown') this.count.retriedUnknown++;
    if (state?.status === 'open' && state.isHeldBefore) this.count.reopened++;
    if (task.reopen === 'redo') this.count.redone++;
    if (task.reopen === 'redo' && isOutdated(row, state))
      this.outdated.add(row, 0, rowPrice(row, this.options.prices));
    if (row.kind !== 'route' && this.endpoints.size < 1_000) this.endpoints.add(row.endpoint);
    this.addPrice(row);
  }

  private announce(row: Row): void {
    if (this.requests === undefined || isRead(row)) return;
    if (this.options.pictureHost !== undefined && hasLocalPictures(row)) this.hasUploads = true;
    else this.addRequest(askedHash(row));
  }

  /** @param hash identifies what a row asks for that is sent */
  addRequest(hash: string): void {
    const { high, low } = requestKey(hash);
    this.requests?.add(high, low);
  }

  private addPrice(row: Row): void {
    const price = rowPrice(row, this.options.prices);
    const fits = this.fitting.add(price, row);
    this.values?.add(row, price, fits);
    addPrice(this.price, price);
    if (price !== null && isUnlisted(this.listed, row)) this.unlisted += price;
    if (price === null) this.firstUnpriced ??= { id: row.id, line: row.line };
  }
}
