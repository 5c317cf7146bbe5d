import { formatMoney } from '../../../src/contract/micro-dollars.js';
import type { Owner } from '../../batch/lock/owner.js';
import type { Survey } from '../survey/survey-run.js';
import { countOf, formatCount, formatSpan, formatSum } from '../messages/format-amounts.js';
import { allOf } from '../survey/sum-money.js';
import type { PendingStatus } from '../../batch/row/row-status.js';
import { requestOf, type JournalTail, type TailRow } from './journal-tail.js';
import type { LiveState } from './live-state.js';
import { endings } from '../messages/status-label.js';

/** The live page's texts about a run that may be running; all plain text. */
export interface FlightView {
  readonly mode: 'running' | 'ended' | 'stopped' | 'none';
  /** The title of the browser's tab. */
  readonly title: string;
  /** Whether a process works on the run, or how the last one ended. */
  readonly state: string;
  /** Why nothing moves; empty while something does. */
  readonly cause: string;
  readonly facts: readonly string[];
  readonly rows: readonly FlightRow[];
  readonly more: string;
}

interface FlightRow {
  readonly id: string;
  readonly what: string;
  readonly place: string;
  readonly status: PendingStatus;
  /** ms since the epoch; 0 if no clock is to run. */
  readonly since: number;
}

/** The facts about a run at one moment. */
export interface RunMoment {
  readonly tail: JournalTail;
  /** The process that works on it. */
  readonly owner: Owner | undefined;
  readonly survey: Survey;
  /** The state that this process reports in addition to the files. */
  readonly live: LiveState | undefined;
  /** ms since the epoch. */
  readonly now: number;
}

/** The most rows to show, about a screen of them. */
const rowsShown = 12;
const rateWindowMs = 120_000;
/** No rate is shown before this time, in ms. */
const enoughMs = 3_000;

const places: Record<PendingStatus, string> = {
  sent: 'sending',
  accepted: 'queued or working',
  replied: 'saving',
};
export function isRunning({ tail, owner }: Pick<RunMoment, 'tail' | 'owner'>): boolean {
  return owner !== undefined && tail.starts > 0 && tail.exitCode === undefined;
}

/** The texts about a run, with its rows in flight, the oldest first. */
export function viewFlight(moment: RunMoment): FlightView {
  const { tail, owner, survey, live } = moment;
  const rows = [...tail.rows.values()].sort((one, other) => one.since - other.since);
  const goes = isRunning(moment);
  const counts = countsOf(live, rows, survey.toDo);
  return {
    mode: goes ? 'running' : stoppedMode(tail),
    title: titleOf(survey, goes),
    state: goes ? runningWords(counts, owner) : stoppedWords(tail),
    cause: goes ? causeWords(live) : '',
    facts: goes
      ? [...countFacts(counts), ...rateFacts(moment), ...costFacts(survey)]
      : stoppedFacts(tail, rows, survey.isRehearsal),
    rows: rows.slice(0, rowsShown).map((row) => rowOf(row, goes)),
    more: rows.length > rowsShown ? `and ${formatCount(rows.length - rowsShown)} more` : '',
  };
}

function titleOf({ rows, toDo, name, heldRows, undownloaded }: Survey, goes: boolean): string {
  const ended = rows.places.length - rows.toGo;
  const failed = ended - rows.completed - heldRows - undownloaded;
  const counts = `${ended}/${ended + toDo}${failed > 0 ? `, ${failed} failed` : ''}`;
  return ended + toDo === 0 ? name : `${counts}${goes ? '' : ', not running'} · ${name}`;
}

function runningWords(counts: Counts, owner: Owner | undefined): string {
  const all = counts.reduce((sum, [count]) => sum + count, 0);
  return `Running: ${countOf(all, 'row')} in progress (PID ${owner?.pid ?? '?'})`;
}

function causeWords(live: LiveState | undefined): string {
  if (live?.isStopping === true) return 'Stopping: waiting for what is in progress.';
  return live?.cause === undefined ? '' : `Waiting: ${live.cause}.`;
}

type Counts = readonly (readonly [count: number, words: string])[];

/** The counts that the process reports once a second, unless the files already show later ones. */
function countsOf(live: LiveState | undefined, rows: readonly TailRow[], toDo: number): Counts {
  const reported = live === undefined ? 0 : live.inFlight + live.saving;
  if (live === undefined || reported < rows.length || reported > toDo) {
    const count = (wanted: PendingStatus): number => rows.filter(({ status }) => status === wanted).length;
    return [
      [count('sent'), 'sending'],
      [count('accepted'), 'queued or working'],
      [count('replied'), 'saving'],
    ];
  }
  const { inFlight, accepted = 0, queued, working, saving, cause } = live;
  const { sending = inFlight - accepted - queued - working } = live;
  return [
    [sending, cause === undefined ? 'sending' : 'sending or waiting'],
    [queued, live.isQueueOld === true ? 'last seen queued' : 'queued'],
    [working, live.isWorkOld === true ? 'last seen working' : 'working'],
    [accepted, 'queued or working'],
    [inFlight - sending - accepted - queued - working, 'with workers'],
    [saving, 'saving'],
  ];
}

function countFacts(counts: Counts): string[] {
  return counts.flatMap(([count, words]) => (count > 0 ? [`${formatCount(count)} ${words}`] : []));
}

/**
 * The rate, and the expected end; neither while nothing moves. If the process does not report its state, it is not known
 * whether anything moves, so no end is shown.
 */
function rateFacts(moment: RunMoment): string[] {
  const { live, now } = moment;
  const { rows, story, toDo } = moment.survey;
  if (live !== undefined) return rateWords(live.rowsPerMinute, toDo > 0 ? live.leftMs : undefined, now);
  const from = Math.max(story.starts.at(-1)?.at ?? 0, now - rateWindowMs);
  let ended = 0;
  for (const at of rows.places.endTimes) if (at >= from) ended++;
  if (ended === 0 || now - from < enoughMs) return [];
  return rateWords((ended * 60_000) / (now - from), undefined, now).map((words) => `${words} on average`);
}

function rateWords(rate: number | undefined, leftMs: number | undefined, now: number): string[] {
  if (rate === undefined) return [];
  const words = `${rate < 10 ? rate.toFixed(1) : formatCount(rate)} rows a minute`;
  if (leftMs === undefined) return [words];
  const end = new Date(now + leftMs).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return [words, `about ${formatSpan(leftMs)} left, until ${end}`];
}

/** The expected cost at the end, if the rows to go cost as much as the others, compared with the cap. */
function costFacts({ money, toDo, cap, isRehearsal }: Survey): string[] {
  const { purchases, reported, estimated } = money.total;
  if (isRehearsal || purchases === 0) return [];
  const atEnd = allOf(money.total) + (toDo * (reported + estimated)) / purchases;
  const limit = cap === undefined ? 'no limit set' : `limit ${formatMoney(cap)}`;
  if (cap === undefined || atEnd <= cap) return [`about ${formatSum(atEnd)} at the end, ${limit}`];
  return [`${limit}, which is reached before the end: all rows would cost about ${formatSum(atEnd)}`];
}

function rowOf(row: TailRow, goes: boolean): FlightRow {
  return {
    id: row.id,
    what: requestOf(row),
    place: (goes ? places : stoppedPlaces)[row.status],
    status: row.status,
    since: goes ? row.since : 0,
  };
}

/** How far a row had come when its start ended. */
const stoppedPlaces: Record<PendingStatus, string> = {
  sent: 'sent, no answer seen',
  accepted: 'accepted',
  replied: 'answered, not saved',
};

/** Whether there was a start, and whether the last one ended properly. */
function stoppedMode({ starts, exitCode }: JournalTail): 'none' | 'stopped' | 'ended' {
  if (starts === 0) return 'none';
  return exitCode === undefined ? 'stopped' : 'ended';
}

/** How the last start ended. */
function stoppedWords({ starts, exitCode }: JournalTail): string {
  if (starts === 0) return 'No run has begun here yet';
  return exitCode === undefined
    ? 'Stopped: the process ended without finishing'
    : exitCode === 0
      ? 'Finished'
      : `The last start ended with exit code ${exitCode}${exitCode in endings ? `: ${endings[exitCode]}` : ''}`;
}

/** Explains what the next start does with rows that this one had sent. */
function stoppedFacts({ starts }: JournalTail, rows: readonly TailRow[], isRehearsal: boolean): string[] {
  if (starts === 0) return ['This page shows it as soon as one does.'];
  const count = (wanted: PendingStatus): number => rows.filter(({ status }) => status === wanted).length;
  const [sent, accepted, replied] = [count('sent'), count('accepted'), count('replied')];
  return [
    sent > 0
      ? `${countOf(sent, 'row was', 'rows were')} sent and no answer was seen: in doubt from the next run on.`
      : '',
    isRehearsal && accepted + replied > 0
      ? `${countOf(accepted + replied, 'job')} ended with the emulator.`
      : '',
    accepted > 0 && !isRehearsal
      ? `${countOf(accepted, 'job is', 'jobs are')} at the service: the next run asks for ${accepted === 1 ? 'it' : 'them'}, and buys nothing again.`
      : '',
    replied > 0 && !isRehearsal
      ? `${countOf(replied, 'result is', 'results are')} still to be saved, by the next run.`
      : '',
  ].filter((fact) => fact !== '');
}
