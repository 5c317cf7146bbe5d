import {
  BehaviorSubject,
  combineLatest,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  ignoreElements,
  map,
  startWith,
  Subject,
  take,
  tap,
  type Observable,
  type Unsubscribable,
} from 'rxjs';
import type { JobEvent, WaitReason } from '../../../src/contract/outcome.js';
import type { AdaptiveConcurrency } from '../../../src/policy/gates/adaptive-concurrency.js';
import type { ServiceReach } from '../stop/service-reach.js';
import { settingAside } from './setting-aside.js';
import type { Stops } from '../stop/stops.js';
import type { RowFacts, Task } from '../row/task.js';

/** How many rows may be in flight: a fixed number, or one that adapts. */
export type Slots = Pick<AdaptiveConcurrency, 'limit'> & Partial<AdaptiveConcurrency>;

/** At most this many polled jobs are in memory at once. */
const mostPolled = 1_000;

/** The use of a slot by a task, until it is unsubscribed. */
export interface SlotUse extends Unsubscribable {
  /** Call it with each event of the row: the event may mean that the row gives away its slot, or needs one. */
  follow(event: JobEvent<unknown>): void;
}

/** The slot of a row: one object for each of the many rows that wait. */
class RowSlot implements SlotUse {
  isAccepted = false;
  /** Why the row gave away its slot: its job is missing, or the service refused its request. `undefined` if it has a slot. */
  away: Extract<WaitReason, 'not-found' | 'rate-limited'> | undefined;
  /** Whether the row's wait is over, so that it waits only for a slot. */
  isReturning = false;

  constructor(
    private readonly slots: Pick<RowSlots, 'follow' | 'leave'>,
    readonly id: string,
    readonly endpoint: string,
  ) {}

  follow(event: JobEvent<unknown>): void {
    this.slots.follow(this, event);
  }

  unsubscribe(): void {
    this.slots.leave(this);
  }
}

interface Surroundings {
  readonly slots: Pick<Slots, 'limit'>;
  readonly stops: Stops;
  /** Whether rows go to more than one endpoint. With a single endpoint, a row that gives away its slot helps no other row. */
  readonly hasSeveralEndpoints: boolean;
}

/**
 * Assigns slots to rows. All jobs of earlier starts are polled, even if there are fewer slots: otherwise the service would
 * delete the results of some while others take long. One additional slot is kept for rows of this start. A row of this start
 * that waits after a refusal, or because its job is missing, gives its slot to others meanwhile.
 */
export class RowSlots {
  private readonly polled = new BehaviorSubject(0);
  private readonly changes = new Subject<void>();
  /** Empty if rows go to a single endpoint. */
  private readonly rows = new Map<string, RowSlot>();
  private withSlot = 0;
  private missing = 0;
  private refused = 0;

  constructor(private readonly around: Surroundings) {}

  /** Call this when a task begins: a job of an earlier start is polled, or a row of this start has a slot. */
  enter(task: Task): SlotUse {
    if (task.what === 'refuse') return noSlot;
    if (task.what === 'poll' && task.intent !== undefined) {
      this.polled.next(this.polled.value + 1);
      return { ...noSlot, unsubscribe: () => this.polled.next(this.polled.value - 1) };
    }
    const row = new RowSlot(this, task.row.id, endpointOf(task.row));
    // With a single endpoint nobody looks for it.
    if (this.around.hasSeveralEndpoints) this.rows.set(row.id, row);
    this.count(row, 1);
    return row;
  }

  leave(row: RowSlot): void {
    this.rows.delete(row.id);
    this.count(row, -1);
    this.changes.next();
  }

  /** Whether a row must wait for a slot before it is sent, because it gave away its own. */
  mustReturn(id: string): boolean {
    const row = this.rows.get(id);
    return row?.away === 'rate-limited' && !row.isReturning;
  }

  /** Completes once the row has a slot again. Returning rows come before new ones. */
  returned(id: string): Observable<never> {
    return defer(() => {
      const row = this.rows.get(id);
      if (row?.away !== 'rate-limited' || row.isReturning) return EMPTY;
      this.move(row, 'rate-limited', true);
      return this.changes.pipe(
        startWith(undefined),
        filter(() => this.withSlot < this.around.slots.limit),
        take(1),
        tap(() => this.move(row, undefined)),
        ignoreElements(),
      );
    });
  }

  /** Whether a row of another endpoint is in flight, and that endpoint's latest request did not fail and was not refused. */
  areOthersAnswered(facts: RowFacts, reach: Pick<ServiceReach, 'isFailing'>): boolean {
    const endpoint = endpointOf(facts);
    for (const other of this.rows.values())
      if (other.away === undefined && isOtherAnswered(other.endpoint, endpoint, reach)) return true;
    return false;
  }

  /**
   * How many tasks may run at once. Rows whose job is missing hold no slot, but only as many of them as there are slots: a
   * service that knows none of its jobs then gets at most twice as many rows. Refused rows hold none, because they get one
   * again before they are sent.
   */
  slots(limit$: Observable<number>): Observable<number> {
    return combineLatest([limit$, this.polled, this.changes.pipe(startWith(undefined))]).pipe(
      map(([limit, polled]) => {
        const { missing, refused } = this;
        return Math.max(limit + Math.min(missing, limit) + refused, Math.min(polled, mostPolled) + 1);
      }),
      distinctUntilChanged(),
    );
  }

  /** The tasks, without those whose rows have to wait: see `mayStart`. */
  passing(tasks: AsyncIterable<Task>): AsyncGenerator<Task, void, void> {
    const { changes, mayStart } = this;
    return settingAside(tasks, { mayStart, changes, stops: this.around.stops });
  }

  follow(row: RowSlot, event: JobEvent<unknown>): void {
    if (event.type === 'accepted') row.isAccepted = true;
    if (event.type !== 'waiting') return this.move(row, undefined);
    // If the POST was not answered, the job counts as missing.
    if (event.why === 'not-found' || event.why === 'callback') return this.move(row, 'not-found');
    if (row.away === 'not-found') this.move(row, undefined);
    const isRefused = (event.why === 'rate-limited' || event.why === 'backoff') && !row.isAccepted;
    if (isRefused && this.around.hasSeveralEndpoints) this.move(row, 'rate-limited');
  }

  private move(row: RowSlot, away: RowSlot['away'], isReturning = false): void {
    if (row.away === away && row.isReturning === isReturning) return;
    this.count(row, -1);
    row.away = away;
    row.isReturning = isReturning;
    this.count(row, 1);
    this.changes.next();
  }

  private count({ away, isReturning }: RowSlot, by: 1 | -1): void {
    if (away === undefined) this.withSlot += by;
    else if (away === 'not-found') this.missing += by;
    else if (!isReturning) this.refused += by;
  }

  /**
   * A row does not start while another row of its endpoint waits after a refusal, because it would be refused as well. It
   * starts anyway if fewer rows are in flight than there are slots.
   */
  private readonly mayStart = (task: Task): boolean => {
    const { hasSeveralEndpoints, slots } = this.around;
    if (!hasSeveralEndpoints || task.what !== 'send' || this.rows.size < slots.limit) return true;
    const endpoint = endpointOf(task.row);
    for (const row of this.rows.values())
      if (row.endpoint === endpoint && row.away === 'rate-limited') return false;
    return true;
  };
}

const noSlot: SlotUse = { follow: () => undefined, unsubscribe: () => undefined };

/** Whether a row of another endpoint gets answers, while one of this endpoint does not. */
export function isOtherAnswered(
  other: string,
  endpoint: string,
  reach: Pick<ServiceReach, 'isFailing'>,
): boolean {
  return other !== endpoint && !reach.isFailing(other);
}

/** The id of the row's endpoint. All routes share one host, and the empty string. */
export function endpointOf({ kind, endpoint }: Pick<RowFacts, 'kind' | 'endpoint'>): string {
  return kind === 'route' ? '' : endpoint;
}
