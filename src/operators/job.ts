import {
  EMPTY,
  firstValueFrom,
  isObservable,
  lastValueFrom,
  Observable,
  type Subscriber,
  type TeardownLogic,
  type UnaryFunction,
} from 'rxjs';
import type { FailureCode } from '../contract/failure-code.js';
import { checkMembers, isObject } from '../contract/check-option.js';
import { InvalidOptionError, MillraceError } from '../contract/millrace-error.js';
import type { JobEvent, Outcome } from '../contract/outcome.js';
import { iterate } from './iterate.js';
import { toOutcome, toOutput } from './to-outcome.js';

/**
 * One purchase. The first subscriber sends the POST; `retry`, `repeat`, `shareReplay`, a second or a late subscriber join the
 * same job and receive its last event first. To buy again, call `run()` again. `settled` comes last, then completion; a failure
 * is an outcome. It errors only if the input does not match its schema, which is before any POST, if a checkpoint fails, or,
 * with the signal's reason, if the signal aborts.
 *
 * Unsubscribing before the POST sends nothing, and a later subscriber continues. It never aborts a POST on the wire, because
 * the id would be lost: polling stops, and then `onUnsubscribe` decides.
 */
export interface Job<O, C extends FailureCode = FailureCode>
  extends Observable<JobEvent<O>>, AsyncIterable<JobEvent<O>> {
  /** Names the job at the gate, the poll schedule and in `activity$`; it need not be unique. */
  readonly key: string;
  /** The id at the service, once it is known; on a load-balanced route the empty string. */
  readonly jobId: string | undefined;
  /** Status requests sent so far. */
  readonly statusCalls: number;
  readonly pipe: JobPipe<O>;
  /** Subscribes, and so buys. Resolves to how the job ended; a failure is a value. Rejects if the job errors. */
  outcome(): Promise<Outcome<O, C>>;
  /** Subscribes, and so buys. Resolves to the output of the job. Rejects with a `JobError` if the job does not complete. */
  output(): Promise<O>;
  /**
   * Cancels the job at the service as soon as its id is known; for subscribers it ends with the service's answer. Before the
   * POST nothing is sent, and the job ends as `job-cancelled`. Does nothing if the job has ended. Resolves to the outcome, or
   * to `undefined` if the answer is not an end: the job continues, or has completed meanwhile and is polled. Another call then
   * asks the service again.
   */
  cancel(): Promise<Outcome<O> | undefined>;
  /** A job is not a promise: `await job` rejects and buys nothing. Await `job.outcome()` or `job.output()`. */
  readonly then: (await_job_outcome_or_job_output: never) => never;
}

/**
 * A job whose id comes with its answer, from `runSync` and routes. While its POST is on the wire there is nothing to
 * cancel, so `switchJobs` does not accept it: each value of its source would leave a paid job behind.
 */
export interface SyncJob<O, C extends FailureCode = FailureCode> extends Job<O, C> {
  /** Exists only in the type. */
  readonly cannotBeCancelled?: true;
}

/** `pipe` of an Observable. After an operator that keeps the job, the next operator receives a job. */
export interface JobPipe<O> {
  (): Job<O>;
  <A>(first: (job: Job<O>) => A): A;
  <A, B>(first: (job: Job<O>) => A, second: (a: A) => B): B;
  <A, B, C>(first: (job: Job<O>) => A, second: (a: A) => B, third: (b: B) => C): C;
  <A, B, C, D>(...four: [(job: Job<O>) => A, (a: A) => B, (b: B) => C, (c: C) => D]): D;
  <A, B, C, D, E>(...five: FiveOperators<Job<O>, A, B, C, D, E>): E;
  <A, B, C, D, E, F>(...six: [...FiveOperators<Job<O>, A, B, C, D, E>, (e: E) => F]): F;
  <A, B, C, D, E, F, G>(...seven: [...FiveOperators<Job<O>, A, B, C, D, E>, (e: E) => F, (f: F) => G]): G;
  <A, B, C, D, E, F, G, H>(
    ...eight: [...FiveOperators<Job<O>, A, B, C, D, E>, (e: E) => F, (f: F) => G, (g: G) => H]
  ): H;
  <A, B, C, D, E, F, G, H, I>(
    ...nine: [...FiveOperators<Job<O>, A, B, C, D, E>, (e: E) => F, (f: F) => G, (g: G) => H, (h: H) => I]
  ): I;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as in rxjs
  (...operators: UnaryFunction<any, any>[]): any;
}

type FiveOperators<T, A, B, C, D, E> = [(job: T) => A, (a: A) => B, (b: B) => C, (c: C) => D, (d: D) => E];

/**
 * An operator that returns a job for a job, so that the result can still be cancelled and iterated, and a stream for a
 * stream. This also holds within `job.pipe(…)`, as long as all its operators are of this kind.
 */
export interface JobOperator<A, B> {
  <J extends Job<A>>(job: J): 'cannotBeCancelled' extends keyof J ? SyncJob<B> : Job<B>;
  (events: Observable<JobEvent<A>>): Observable<JobEvent<B>>;
  (job: Job<A>): Job<B>;
}

/** Facts about a job for operators, in addition to its public interface. */
export interface JobFacts<O = unknown> {
  readonly key: string;
  readonly jobId: string | undefined;
  readonly statusCalls: number;
  /**
   * Its id comes with its answer, so there is nothing to cancel while its POST is on the wire. With several purchases this is
   * about the first.
   */
  readonly cannotBeCancelled?: boolean;
  /** Cancels at once, even if nobody is subscribed. Emits the outcome, or completes without one if the answer is not an end. */
  cancel(): Observable<Outcome<O>>;
  /** The address of the job at the service: host, endpoint and id. `undefined` until the id is known, and if there is none. */
  readonly address?: string | undefined;
  /** Calls `listener` with each event from now on, even while nobody is subscribed. */
  watch?(listener: (event: Watched) => void): void;
  /** For a job that consists of several purchases: the same job with each purchase replaced. */
  readonly eachPurchase?: (replace: ReplaceJob) => Job<O>;
}

/** An event of a job, or the fact that its POST was provably refused, so that nothing has been bought so far. */
export type Watched = JobEvent<unknown> | { readonly type: 'refused' };
export type ReplaceJob = <P>(job: Job<P>) => Job<P>;

/** A stream of events in the shape of a job. */
export function asJob<O>(events: Observable<JobEvent<O>> | Subscribe<O>, facts: JobFacts<O>): Job<O> {
  return new StreamedJob(isObservable(events) ? (subscriber) => events.subscribe(subscriber) : events, facts);
}

type Subscribe<O> = (subscriber: Subscriber<JobEvent<O>>) => TeardownLogic;

/** The facts about a job that this library made; `undefined` for any other stream. */
export function factsOf<O>(events: Observable<JobEvent<O>>): JobFacts<O> | undefined {
  return events instanceof StreamedJob ? (StreamedJob.factsOf(events) as JobFacts<O>) : undefined;
}

/**
 * Checks what a function of the user returned. A promise is named, because `async` and `outcome()` are easily written out of
 * habit; its own error is not reported a second time.
 *
 * @param name of the function
 * @throws InvalidOptionError
 */
export function checkJob(name: string, job: unknown): void {
  if (isObject(job) && 'then' in job && !('subscribe' in job)) {
    Promise.resolve(job).catch(() => undefined);
    throw new InvalidOptionError(
      name,
      'returned a promise: return the job itself, without async, outcome() and output()',
    );
  }
  checkMembers(name, job, 'function that returns a job', ['subscribe']);
}

/** Cancels if there is a job, and emits how it ended, as `JobFacts.cancel` does. */
export function cancelJob<O>(events: Observable<JobEvent<O>> | undefined): Observable<Outcome<O>> {
  return (events === undefined ? undefined : factsOf(events)?.cancel()) ?? EMPTY;
}

/** The facts about the job that an operator returns: those of its source, with the operator's changes. */
export function factsBehind<O>(
  facts: JobFacts<O>,
  changed: Pick<JobFacts<O>, 'eachPurchase'> & Partial<Pick<JobFacts<O>, 'cancel'>>,
): JobFacts<O> {
  return {
    get key() {
      return facts.key;
    },
    get jobId() {
      return facts.jobId;
    },
    get statusCalls() {
      return facts.statusCalls;
    },
    get cannotBeCancelled() {
      return facts.cannotBeCancelled === true;
    },
    get address() {
      return facts.address;
    },
    watch: (listener) => facts.watch?.(listener),
    cancel: () => facts.cancel(),
    ...changed,
  };
}

/** Turns an operator on a stream of events into one that returns a job for a job. */
export function jobOperator<O>(
  operate: <P>(events: Observable<JobEvent<P>>) => Observable<JobEvent<P>>,
): JobOperator<O, O> {
  const wrapped = <P>(job: Job<P>, facts: JobFacts<P>): Job<P> => {
    const { eachPurchase } = facts;
    if (eachPurchase === undefined) return asJob(operate(job), facts);
    const within = factsBehind(facts, {
      eachPurchase: (replace) => jobOperator<P>(operate)(eachPurchase(replace)),
    });
    return asJob(operate(job), within);
  };
  const operator = (events: Observable<JobEvent<O>>) => {
    const facts = factsOf(events);
    return facts === undefined ? operate(events) : wrapped(events as Job<O>, facts);
  };
  return operator as JobOperator<O, O>;
}

class StreamedJob<O> extends Observable<JobEvent<O>> {
  declare readonly pipe: Job<O>['pipe'];
  /** Private, because they contain the client with its key: a logged job must not show it. */
  readonly #facts: JobFacts<O>;

  constructor(subscribe: Subscribe<O>, facts: JobFacts<O>) {
    super(subscribe);
    this.#facts = facts;
  }

  static factsOf<O>(job: StreamedJob<O>): JobFacts<O> {
    return job.#facts;
  }

  get key(): string {
    return this.#facts.key;
  }

  get jobId(): string | undefined {
    return this.#facts.jobId;
  }

  get statusCalls(): number {
    return this.#facts.statusCalls;
  }

  outcome(): Promise<Outcome<O>> {
    return firstValueFrom(this.pipe(toOutcome<O>()));
  }

  output(): Promise<O> {
    return firstValueFrom(this.pipe(toOutput<O>()));
  }

  cancel(): Promise<Outcome<O> | undefined> {
    return lastValueFrom(this.#facts.cancel(), { defaultValue: undefined });
  }

  then(): never {
    throw new MillraceError('usage', 'a job is not a promise: await job.outcome() or job.output()');
  }

  [Symbol.asyncIterator](): AsyncIterator<JobEvent<O>, undefined, undefined> {
    return iterate(this);
  }
}
