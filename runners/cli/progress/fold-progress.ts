import type { JobEvent, WaitReason } from '../../../src/contract/outcome.js';
import type { JobState } from '../../../src/contract/service-replies.js';
import type { RowStatus } from '../../batch/formats.js';
import type { RunEvent } from '../../batch/internal.js';
import { plainText } from '../messages/plain-text.js';
import { nameCause } from './name-cause.js';
import type { ProgressView } from './progress-view.js';

/** The state of a row in flight: its own, and that of its job while the service has it. */
type FlightState = Extract<RowStatus, 'sent' | 'replied'> | Extract<JobState, 'IN_QUEUE' | 'IN_PROGRESS'>;

type RowsElsewhere = Extract<RunEvent, { type: 'elsewhere' }>;

/** Folds the events of a run into what the display shows. Times in ms by one clock; memory is proportional to rows in flight. */
export class ProgressFold {
  /** What the service says of its health: a part of the cause, until something moves. */
  health: string | undefined;
  private stopping = false;
  private unreached: string | undefined;
  private rows: number | undefined;
  private others = 0;
  private endedBefore = 0;
  private readonly ended = { completed: 0, failed: 0, unknown: 0 };
  private unsent = 0;
  private readonly flight = new Map<string, FlightState>();
  private readonly counts = { sent: 0, IN_QUEUE: 0, IN_PROGRESS: 0, replied: 0 };
  private readonly waits = new Map<WaitReason, number>();
  private money: ProgressView['money'] = { spent: 0, unknown: 0 };
  private movedAt: number;
  private elsewhere = { inFlight: 0, saving: 0 };
  private readonly rate: RowRate;

  constructor(
    private concurrency: number,
    startedAt: number,
    private readonly isRehearsal = false,
  ) {
    this.movedAt = startedAt;
    this.rate = new RowRate(startedAt);
  }

  take(event: RunEvent, at: number): void {
    if (event.type === 'checked') this.others = event.ahead.gone;
    else if (event.type === 'started') {
      this.rows = event.rowsTotal;
      this.endedBefore = event.alreadyEnded;
    } else if (event.type === 'row') this.takeStep(event.id, event.event, at);
    else if (event.type === 'ended') {
      // Rows that are held or invalid end at once, and say nothing of the pace.
      if ((event.status === 'unknown' || event.status === 'invalid-row') && !this.flight.has(event.id))
        this.unsent += 1;
      this.leave(event.id);
      this.ended[event.status === 'completed' || event.status === 'unknown' ? event.status : 'failed'] += 1;
      this.rate.note(this.done() - this.unsent, at);
      this.moved(at);
    } else if (event.type === 'money') {
      const { spent, unknown, cap } = event;
      this.money = { spent, unknown, ...(cap !== undefined && { cap }) };
    } else if (event.type === 'elsewhere') this.takeElsewhere(event, at);
    else if (event.type === 'unreached') this.unreached = plainText(event.message, 300);
    else if (event.type === 'stopping') this.stopping = true;
    else if (event.type === 'concurrency') this.concurrency = event.rows;
  }

  view(at: number): ProgressView {
    const { sent, IN_QUEUE: queued, IN_PROGRESS: working, replied } = this.counts;
    const inFlight = sent + queued + working + this.elsewhere.inFlight;
    const saving = replied + this.elsewhere.saving;
    const left = this.rows === undefined ? 0 : this.rows - this.endedBefore - this.done();
    const { movedAt, waits, unreached } = this;
    const standing = { movedAt, waits, unreached, inFlight, queued, working, saving };
    const cause = nameCause(this.health === undefined ? standing : { ...standing, health: this.health }, at);
    // While nothing moves, a pace would only sink.
    const rowsPerMinute =
      cause === undefined ? this.rate.rowsPerMinute(this.done() - this.unsent, at) : undefined;
    return {
      rows: this.rows,
      others: this.others,
      endedBefore: this.endedBefore,
      ...this.ended,
      ...{ inFlight, queued, working, saving },
      concurrency: this.concurrency,
      rowsPerMinute,
      // A run that stops leaves rows undone.
      leftMs:
        rowsPerMinute === undefined || left <= 0 || this.stopping
          ? undefined
          : (left / rowsPerMinute) * 60_000,
      money: this.money,
      stillMs: at - this.movedAt,
      cause,
      isRehearsal: this.isRehearsal,
      stopping: this.stopping,
    };
  }

  private takeElsewhere({ inFlight, saving, pausedMs }: RowsElsewhere, at: number): void {
    if (inFlight !== this.elsewhere.inFlight || saving !== this.elsewhere.saving) this.moved(at);
    this.elsewhere = { inFlight, saving };
    if (pausedMs > 0) this.waits.set('backoff', at + pausedMs);
  }

  private takeStep(id: string, step: JobEvent<unknown>, at: number): void {
    if (step.type === 'waiting') {
      this.waits.set(step.why, Math.max(this.waits.get(step.why) ?? 0, at + step.forMs));
    } else if (step.type === 'submitting') this.enter(id, 'sent', at);
    else if (step.type === 'accepted') this.enter(id, 'IN_QUEUE', at);
    else if (step.type === 'status') {
      if (step.status !== 'COMPLETED')
        this.enter(id, step.status === 'IN_QUEUE' ? 'IN_QUEUE' : 'IN_PROGRESS', at);
    } else if (step.outcome.status !== 'completed') this.leave(id);
    // Without a picture to save, `ended` may arrive before the row's last step.
    else if (this.flight.has(id)) this.enter(id, 'replied', at);
  }

  private enter(id: string, state: FlightState, at: number): void {
    if (this.flight.get(id) === state) return;
    this.leave(id);
    this.flight.set(id, state);
    this.counts[state] += 1;
    if (state !== 'sent') this.moved(at);
  }

  private leave(id: string): void {
    const state = this.flight.get(id);
    if (state === undefined) return;
    this.flight.delete(id);
    this.counts[state] -= 1;
  }

  private moved(at: number): void {
    this.movedAt = at;
    this.health = undefined;
    this.unreached = undefined;
  }

  private done(): number {
    return this.ended.completed + this.ended.failed + this.ended.unknown;
  }
}

/** How far back the rate looks, in ms. */
const windowMs = 120_000;
/** At most one sample in this time is kept, so that the window stays small at any speed. */
const sampleEveryMs = 1_000;
/** No rate is shown before this time, in ms. */
const enoughMs = 3_000;

interface Sample {
  readonly at: number;
  readonly done: number;
}

/** Rows a minute over the last two minutes, from counts at moments in ms. */
export class RowRate {
  private readonly samples: [first: Sample, ...Sample[]];

  constructor(startedAt: number) {
    this.samples = [{ at: startedAt, done: 0 }];
  }

  note(done: number, at: number): void {
    const { samples } = this;
    if (at - (samples.at(-1)?.at ?? at) < sampleEveryMs) return;
    samples.push({ at, done });
    while (samples.length > 2 && (samples[1]?.at ?? at) <= at - windowMs) samples.shift();
  }

  /** `undefined` until enough time has passed. */
  rowsPerMinute(done: number, at: number): number | undefined {
    const [oldest] = this.samples;
    const elapsedMs = at - oldest.at;
    const rows = done - oldest.done;
    return rows <= 0 || elapsedMs < enoughMs ? undefined : (rows * 60_000) / elapsedMs;
  }
}
