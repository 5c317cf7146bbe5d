import { defer, identity, type Observable } from 'rxjs';
import type { JobEvent, Outcome } from '../../contract/outcome.js';
import { isTerminal } from '../../contract/service-replies.js';
import type { WireRequest } from '../../transport/transport.js';
import { Heard, inTurn } from '../in-turn.js';
import { asJob, type Job, type JobFacts, type Watched } from '../job.js';
import { lastOf } from '../last-of.js';
import type { Desk } from '../requests/exchange.js';
import { directAnswer, outcomeOf } from '../requests/outcome-of.js';
import { statusEvent, type PollTask, type StatusEvent } from '../requests/poll-until-terminal.js';
import { Cancellation } from './cancellation.js';
import { awaitMark } from './checkpoint-events.js';
import type { Order } from './job-spec.js';
import { joinedByAll } from './joined-by-all.js';
import { pollToDeadline } from './poll-to-deadline.js';
import { Stage, type Steps } from './stage.js';
import { Submission, type Answer, type Buyer } from './submission.js';

/** One purchase: submit → accept → poll → settle. Nothing happens before the first subscription. */
export function createJob<O>(order: Order<O>, desk: Desk): Job<O> {
  const purchase = new Purchase(order, desk);
  return asJob(purchase.events, purchase);
}

class Purchase<O> implements JobFacts, Buyer<O> {
  readonly events: Observable<JobEvent<O>>;
  isCancelled = false;
  statusCalls = 0;
  private id: string | undefined;
  hasEnded = false;
  private wasPolled: boolean;
  private due: number | undefined;
  private lastStatus: StatusEvent | undefined;
  private request: WireRequest | undefined;
  private listeners: readonly ((event: Watched) => void)[] = [];
  readonly stage: Stage<O>;
  private readonly cancellation: Cancellation<O>;
  private readonly submission: Submission<O>;

  constructor(
    private readonly order: Order<O>,
    private readonly desk: Desk,
  ) {
    this.id = order.known?.jobId;
    this.wasPolled = order.known !== undefined;
    this.stage = new Stage((event) => {
      order.tell(event);
      this.notify(event);
    });
    this.cancellation = new Cancellation(order, desk, this);
    this.submission = new Submission(order, desk, this.stage, this);
    const opened = this.stage.open(
      () => this.play(),
      () => this.left(),
    );
    const { untilAborted } = order;
    this.events = joinedByAll(
      untilAborted === identity ? opened : defer(() => (this.hasEnded ? opened : opened.pipe(untilAborted))),
    );
  }

  get key(): string {
    return this.order.key;
  }

  get jobId(): string | undefined {
    return this.order.purpose === 'route-post' ? '' : this.id;
  }

  get address(): string | undefined {
    const { id, order } = this;
    return id === undefined ? undefined : order.queue?.status(id).url;
  }

  watch(listener: (event: Watched) => void): void {
    this.listeners = [...this.listeners, listener];
  }

  refused(): void {
    this.notify({ type: 'refused' });
  }

  private notify(event: Watched): void {
    for (const listener of this.listeners) listener(event);
  }

  get isOpen(): boolean {
    return this.id === undefined && !this.hasEnded;
  }

  private *play(): Steps<O> {
    yield* this.submit();
    yield* this.poll();
  }

  private submit(): Steps<O> {
    const deadlineAt = this.deadlineAt();
    if (!this.isOpen) return [];
    const { request } = this.order;
    if (typeof request === 'function') this.request ??= request();
    else if (this.request === undefined) return this.submitLast(request, deadlineAt);
    return this.submission.run(this.request, deadlineAt);
  }

  private *submitLast(requests: Observable<WireRequest>, deadlineAt: number): Steps<O> {
    this.request = yield* lastOf(requests);
    if (this.request !== undefined) yield* this.submission.run(this.request, deadlineAt);
  }

  accept(answer: Answer, request: WireRequest): Steps<O> {
    if (answer.body === 'value') return this.settle(directAnswer(answer.value));
    const { job } = answer;
    this.id = job.id;
    // It may be large, and is not needed while the job is waited for.
    this.request = undefined;
    if (isTerminal(job.status)) return this.settle(outcomeOf(job, request));
    this.lastStatus = statusEvent(job);
    if (this.isCancelled || !this.stage.isWatched) this.abandon();
    const mark = awaitMark(this.order.checkpoint, { type: 'accepted', jobId: job.id });
    return [mark, { type: 'accepted', jobId: job.id }, this.lastStatus];
  }

  private *poll(): Steps<O> {
    const { stage, desk, id, order } = this;
    if (id === undefined || order.queue === undefined || this.hasEnded) return;
    const due = { at: this.deadlineAt(), deadlineMs: order.options.deadlineMs };
    const end: { outcome?: Outcome<unknown> } = {};
    yield Heard.of(
      pollToDeadline(this.pollTask(id, order.queue.status(id)), due, desk),
      (step): JobEvent<O> | undefined => {
        if (step.type === 'ended') {
          end.outcome = step.outcome;
          return undefined;
        }
        if (step.type === 'status') this.lastStatus = step;
        stage.note(step);
        return step;
      },
    );
    const { outcome } = end;
    if (outcome !== undefined) yield* this.finish(outcome);
  }

  /** The end of a job that was polled. Where it takes no time there is nothing that could be cut off. */
  private *finish(outcome: Outcome<unknown>): Steps<O> {
    const { stage, order } = this;
    const checked = order.checkpoint === undefined ? order.check(outcome) : undefined;
    if (!Array.isArray(checked)) {
      yield stage.uninterrupted(inTurn(() => this.settle(outcome)));
      return;
    }
    this.hasEnded = true;
    for (const each of checked as Outcome<O>[]) {
      const settled: JobEvent<O> = { type: 'settled', outcome: each };
      stage.note(settled);
      yield settled;
    }
  }

  *settle(outcome: Outcome<unknown>): Steps<O> {
    this.hasEnded = true;
    const checked = yield* lastOf(this.order.check(outcome));
    if (checked === undefined) return;
    yield awaitMark(this.order.checkpoint, { type: 'settled', outcome: checked });
    yield { type: 'settled', outcome: checked };
  }

  cancel(): void {
    if (this.hasEnded || this.isCancelled) return;
    this.isCancelled = true;
    this.submission.leave();
    this.abandon();
  }

  /** The last subscriber has gone. */
  private left(): void {
    if (this.hasEnded) return;
    this.abandon();
    this.cancellation.end();
  }

  /** Cancels at the service what is to be cancelled there: once, and as soon as the id is known. */
  private abandon(): void {
    const { id, order } = this;
    const isWanted = !this.isCancelled && order.options.onUnsubscribe === 'detach';
    if (!isWanted && id !== undefined) this.cancellation.send(id);
  }

  private deadlineAt(): number {
    this.due ??= this.desk.scheduler.now() + this.order.options.deadlineMs;
    return this.due;
  }

  private pollTask(jobId: string, request: WireRequest): PollTask {
    const { order, desk } = this;
    const atOnce = this.wasPolled;
    this.wasPolled = true;
    // A job noted before the clock was set back is not asked for hours later.
    const now = desk.scheduler.now();
    return {
      key: order.key,
      jobId,
      endpoint: order.endpoint,
      variant: order.variant,
      submittedAt: Math.min(order.known?.submittedAt ?? this.submission.sentAt ?? now, now),
      request,
      schedule: order.options.poll,
      backoff: order.options.retry,
      atOnce,
      last: this.lastStatus,
      onCall: () => (this.statusCalls += 1),
    };
  }
}
