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
import type { JobEvent } from '../../../src/contract/outcome.js';
import type { AdaptiveConcurrency } from '../../../src/policy/gates/adaptive-concurrency.js';
import type { ServiceReach } from '../stop/service-reach.js';
import { settingAside } from './setting-aside.js';
import type { Stops } from '../stop/stops.js';
import type { RowFacts, Task } from '../row/task.js';

/** How many rows may be in flight: a number that stands, or one that is found out. */
export type Slots = Pick<AdaptiveConcurrency, 'limit'> & Partial<AdaptiveConcurrency>;

/** So many are kept in memory at once. */
const mostPolled = 1_000;

/**
 * `held`: the row holds a slot. `missing`: the service does not know its job. `refused`: nothing of it was accepted, and it
 * waits. `returning`: its wait is over, and it waits for a slot.
 */
type SlotState = 'held' | 'missing' | 'refused' | 'returning';

/** The use that a task makes of a slot, until it is unsubscribed. */
export interface SlotUse extends Unsubscribable {
  /** Takes in an event of the row: whether it still holds its slot. */
  follow(event: JobEvent<unknown>): void;
}

interface RowSlot {
  readonly endpoint: string;
  state: SlotState;
  isAccepted: boolean;
}

interface Surroundings {
  readonly slots: Pick<Slots, 'limit'>;
  readonly stops: Stops;
  /** Rows go to more than one endpoint. Where there is one, a row that gives its slot away helps no other row. */
  readonly hasSeveralEndpoints: boolean;
}

/**
 * Jobs of earlier starts are all asked for, however few slots there are: where some of them take long, the results of those
 * behind them would be gone. One slot beside them is left for rows of this start. A row of this start that waits after a
 * refusal, or because its job is missing, gives its slot to others meanwhile.
 */
export class BesidePolls {
  private readonly polled = new BehaviorSubject(0);
  private readonly changes = new Subject<void>();
  private readonly rows = new Map<string, RowSlot>();
  private readonly counts: Record<SlotState, number> = { held: 0, missing: 0, refused: 0, returning: 0 };

  constructor(private readonly around: Surroundings) {}

  /** A task is begun: a job of an earlier start is asked for, or a row of this start has a slot. */
  enter(task: Task): SlotUse {
    if (task.what === 'refuse') return noSlot;
    if (task.what !== 'poll' || task.intent === undefined) return this.enterRow(task.row);
    this.polled.next(this.polled.value + 1);
    return { ...noSlot, unsubscribe: () => this.polled.next(this.polled.value - 1) };
  }

  /** Whether a row has to wait for a slot before it is sent: it gave its own away. */
  mustReturn(id: string): boolean {
    return this.rows.get(id)?.state === 'refused';
  }

  /** Completes once the row has a slot again. Rows that come back go before new ones. */
  returned(id: string): Observable<never> {
    return defer(() => {
      const row = this.rows.get(id);
      if (row?.state !== 'refused') return EMPTY;
      this.move(row, 'returning');
      return this.changes.pipe(
        startWith(undefined),
        filter(() => this.counts.held < this.around.slots.limit),
        take(1),
        tap(() => this.move(row, 'held')),
        ignoreElements(),
      );
    });
  }

  /** Whether a row of another endpoint is in work that has not just been refused. */
  worksBeside(facts: RowFacts, reach: Pick<ServiceReach, 'isFailing'>): boolean {
    const endpoint = endpointOf(facts);
    for (const other of this.rows.values())
      if (other.state === 'held' && other.endpoint !== endpoint && !reach.isFailing(other.endpoint))
        return true;
    return false;
  }

  /**
   * How many tasks may go on at once. Rows whose job is missing hold no slot, up to as many as there are: a service that knows
   * none of its jobs is not sold more than twice as many. Rows that were refused hold none, as they come back before they are sent.
   */
  slots(limit$: Observable<number>): Observable<number> {
    return combineLatest([limit$, this.polled, this.changes.pipe(startWith(undefined))]).pipe(
      map(([limit, polled]) => {
        const { missing, refused } = this.counts;
        return Math.max(limit + Math.min(missing, limit) + refused, Math.min(polled, mostPolled) + 1);
      }),
      distinctUntilChanged(),
    );
  }

  /** The tasks, without those whose rows have to wait: see `mayStart`. */
  passing(tasks: AsyncIterable<Task>): AsyncGenerator<Task, void, void> {
    const mayStart = (task: Task): boolean => this.mayStart(task);
    return settingAside(tasks, { mayStart, changes: this.changes, stops: this.around.stops });
  }

  private enterRow({ id, ...facts }: RowFacts): SlotUse {
    const row: RowSlot = { endpoint: endpointOf(facts), state: 'held', isAccepted: false };
    this.rows.set(id, row);
    this.counts.held += 1;
    return {
      follow: (event) => this.follow(row, event),
      unsubscribe: () => {
        this.rows.delete(id);
        this.counts[row.state] -= 1;
        this.changes.next();
      },
    };
  }

  private follow(row: RowSlot, event: JobEvent<unknown>): void {
    if (event.type === 'accepted') row.isAccepted = true;
    if (event.type !== 'waiting') return this.move(row, 'held');
    if (event.why === 'not-found') return this.move(row, 'missing');
    if (row.state === 'missing') this.move(row, 'held');
    const isRefused = (event.why === 'rate-limited' || event.why === 'backoff') && !row.isAccepted;
    if (isRefused && this.around.hasSeveralEndpoints) this.move(row, 'refused');
  }

  private move(row: RowSlot, state: SlotState): void {
    if (row.state === state) return;
    this.counts[row.state] -= 1;
    this.counts[state] += 1;
    row.state = state;
    this.changes.next();
  }

  /**
   * A row does not start while another one of its endpoint waits after a refusal, as it would be refused as well. As many
   * rows as there are slots start all the same.
   */
  private mayStart(task: Task): boolean {
    const { hasSeveralEndpoints, slots } = this.around;
    if (!hasSeveralEndpoints || task.what !== 'send' || this.rows.size < slots.limit) return true;
    const endpoint = endpointOf(task.row);
    for (const row of this.rows.values())
      if (row.endpoint === endpoint && (row.state === 'refused' || row.state === 'returning')) return false;
    return true;
  }
}

/** What needs no slot of a row. */
const noSlot: SlotUse = { follow: () => undefined, unsubscribe: () => undefined };

/** Where a row goes: the id of its endpoint. Routes have one host together, and the empty string. */
function endpointOf({ kind, endpoint }: Pick<RowFacts, 'kind' | 'endpoint'>): string {
  return kind === 'route' ? '' : endpoint;
}
