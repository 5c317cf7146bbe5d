import type { JobEvent, WaitReason, JobState } from '../../../src/contract/outcome.js';
import type { RowStatus } from '../../batch/formats.js';
import type { RunEvent, Summary } from '../../batch/internal.js';
import { plainText } from '../messages/plain-text.js';
import { nameCause } from './name-cause.js';
import type { ProgressView } from './progress-view.js';

/** The rate is still shown during a silence shorter than this, in ms. */
const silenceMs = 5_000;
/** From this age on, in ms, a job's status is shown as old. */
const oldMs = 1_500;

/** The state of a row in flight: its own, and its job's once the service has reported it. */
type FlightState =
  Extract<RowStatus, 'sent' | 'accepted' | 'replied'> | Extract<JobState, 'IN_QUEUE' | 'IN_PROGRESS'>;
type RowsElsewhere = Extract<RunEvent, { type: 'elsewhere' }>;

/** Folds the events of a run into what the display shows. Times in ms by one clock; memory is proportional to rows in flight. */
export class ProgressFold {
  /** The health that the service reports, which is a part of the cause until something moves. */
  health: string | undefined;
  private stopping = false;
  private unreached: string | undefined;
  private rows: number | undefined;
  private others = 0;
  private endedBefore = 0;
  private readonly ended = { completed: 0, failed: 0, unknown: 0, undownloaded: 0 };
  private unsent = 0;
  private readonly flight = new Map<string, { readonly state: FlightState; seenAt: number }>();
  /** What is on its way at the end of the start. */
  private atEnd: NonNullable<Summary['pending']> | undefined;
  private readonly waits = new Map<WaitReason, number>();
  private money: ProgressView['money'] = { spent: 0, unknown: 0 };
  private movedAt: number;
  /** When a row last ended, or else when the start began. */
  private endedAt: number;
  private elsewhere = { inFlight: 0, saving: 0 };
  private readonly rate: RowRate;

  constructor(
    private concurrency: number,
    startedAt: number,
    private readonly isRehearsal = false,
  ) {
    this.movedAt = startedAt;
    this.endedAt = startedAt;
    this.rate = new RowRate(startedAt);
  }

  take(event: RunEvent, at: number): void {
    if (event.type === 'checked') this.others = event.ahead.gone;
    else if (event.type === 'started') {
      this.rows = event.rowsTotal;
      this.endedBefore = event.alreadyEnded;
    } else if (event.type === 'row') this.takeStep(event.id, event.event, at);
    else if (event.type === 'ended') {
      // Held and invalid rows end at once, so they are not counted for the rate.
      if ((event.status === 'unknown' || event.status === 'invalid-row') && !this.flight.has(event.id))
        this.unsent += 1;
      this.flight.delete(event.id);
      this.ended[endedAs(event.status)] += 1;
      this.rate.note(this.done() - this.unsent, at);
      this.endedAt = at;
      this.moved(at);
    } else if (event.type === 'reopened') {
      if (event.isOfThisStart) this.ended[endedAs('unknown')] -= 1;
      else this.endedBefore -= 1;
    } else if (event.type === 'money') {
      const { spent, unknown, cap } = event;
      this.money = { spent, unknown, ...(cap !== undefined && { cap }) };
    } else if (event.type === 'elsewhere') this.takeElsewhere(event, at);
    else if (event.type === 'unreached') this.unreached = plainText(event.message, 300);
    else if (event.type === 'stopping') this.stopping = true;
    else if (event.type === 'concurrency') this.concurrency = event.rows;
    else if (event.type === 'finished' && event.summary !== undefined) this.takeEnd(event.summary);
  }

  view(at: number): ProgressView {
    const { sent, accepted, IN_QUEUE: queued, IN_PROGRESS: working, replied, old } = this.countFlight(at);
    const inFlight = sent + accepted + queued + working + this.elsewhere.inFlight;
    const saving = replied + this.elsewhere.saving;
    const left = this.rows === undefined ? 0 : this.rows - this.endedBefore - this.done();
    const { movedAt, endedAt, waits, unreached, health } = this;
    const isQueueOld = old.has('IN_QUEUE');
    const isWorkOld = old.has('IN_PROGRESS');
    const places = { inFlight, sending: sent, accepted, queued, isQueueOld, working, isWorkOld, saving };
    const cause = nameCause({ movedAt, endedAt, waits, unreached, health, ...places }, at);
    // No rate is shown while nothing moves, because it would only fall.
    const rowsPerMinute = cause === undefined ? this.rateAt(at) : undefined;
    return {
      rows: this.rows,
      others: this.others,
      endedBefore: this.endedBefore,
      ...this.ended,
      ...places,
      concurrency: this.concurrency,
      rowsPerMinute,
      // No remaining time for a stopping run, which leaves rows undone.
      leftMs: rowsPerMinute === undefined || this.stopping ? undefined : this.leftAt(at, left, rowsPerMinute),
      money: this.money,
      stillMs: at - this.movedAt,
      cause,
      isRehearsal: this.isRehearsal,
      stopping: this.stopping,
    };
  }

  /** The rate when the last row ended, because the current one falls with each second. None if that is longer ago than a row takes. */
  private rateAt(at: number): number | undefined {
    const rate = this.rate.rowsPerMinute(this.done() - this.unsent, this.endedAt);
    if (rate === undefined) return undefined;
    const rowMs = (this.concurrency * 60_000) / rate;
    return at - this.endedAt > Math.max(silenceMs, rowMs) ? undefined : rate;
  }

  private leftAt(at: number, rows: number, rowsPerMinute: number): number | undefined {
    const leftMs = (rows / rowsPerMinute) * 60_000 - (at - this.endedAt);
    return leftMs > 0 ? leftMs : undefined;
  }

  private takeElsewhere({ inFlight, saving, pausedMs }: RowsElsewhere, at: number): void {
    if (inFlight !== this.elsewhere.inFlight || saving !== this.elsewhere.saving) this.moved(at);
    this.elsewhere = { inFlight, saving };
    if (pausedMs > 0) this.waits.set('backoff', at + pausedMs);
  }

  /** Rows that were refused and left for a later start have no last event, so the summary counts what is on its way. */
  private takeEnd({ pending }: Summary): void {
    this.flight.clear();
    this.elsewhere = { inFlight: 0, saving: 0 };
    this.atEnd = pending;
  }

  private takeStep(id: string, step: JobEvent<unknown>, at: number): void {
    if (step.type === 'waiting') {
      this.waits.set(step.why, Math.max(this.waits.get(step.why) ?? 0, at + step.forMs));
    } else if (step.type === 'submitting') this.enter(id, 'sent', at);
    else if (step.type === 'accepted') this.enter(id, 'accepted', at);
    else if (step.type === 'status') {
      if (step.status !== 'COMPLETED')
        this.enter(id, step.status === 'IN_QUEUE' ? 'IN_QUEUE' : 'IN_PROGRESS', at);
    } else if (step.outcome.status !== 'completed') this.flight.delete(id);
    // If there is no picture to save, `ended` may arrive before the row's last step.
    else if (this.flight.has(id)) this.enter(id, 'replied', at);
  }

  private enter(id: string, state: FlightState, at: number): void {
    const row = this.flight.get(id);
    if (row?.state === state) {
      row.seenAt = at;
      return;
    }
    this.flight.set(id, { state, seenAt: at });
    if (state !== 'sent') this.moved(at);
  }

  /** The rows in flight by their states, and the states of which some are old. */
  private countFlight(at: number) {
    const counts = { sent: 0, accepted: 0, IN_QUEUE: 0, IN_PROGRESS: 0, replied: 0, ...this.atEnd };
    const old = new Set<FlightState>();
    for (const { state, seenAt } of this.flight.values()) {
      counts[state] += 1;
      if (at - seenAt > oldMs) old.add(state);
    }
    return { ...counts, old };
  }

  private moved(at: number): void {
    this.movedAt = at;
    this.health = undefined;
    this.unreached = undefined;
  }

  private done(): number {
    const { completed, failed, unknown, undownloaded } = this.ended;
    return completed + failed + unknown + undownloaded;
  }
}

function endedAs(status: RowStatus): 'completed' | 'failed' | 'unknown' | 'undownloaded' {
  if (status === 'completed' || status === 'unknown') return status;
  return status === 'download' ? 'undownloaded' : 'failed';
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

/** Rows per minute over the last two minutes, from counts at times in ms. */
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
