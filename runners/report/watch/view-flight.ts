import type { Owner } from '../../batch/lock/owner.js';
import type { Survey } from '../survey/survey-run.js';
import { countOf, formatCount, formatSpan } from '../messages/format-amounts.js';
import { requestOf, type FlightPhase, type JournalTail, type RowInFlight } from './journal-tail.js';

/** What the live page says of a run that may be going on; all of it plain text. */
export interface FlightView {
  /** Whether a process works on it, and if not, how the last one ended. */
  readonly state: string;
  readonly facts: readonly string[];
  readonly rows: readonly FlightRow[];
  readonly more: string;
}

interface FlightRow {
  readonly id: string;
  readonly what: string;
  readonly place: string;
  readonly phase: FlightPhase;
  /** ms since the epoch; 0 where no clock is to run. */
  readonly since: number;
}

/** More than a screen holds helps nobody. */
const rowsShown = 12;
const rateWindowMs = 120_000;
/** Less than this says nothing about the rate. */
const enoughMs = 3_000;

const places: Record<FlightPhase, string> = {
  sent: 'sent, no answer yet',
  accepted: 'at the service',
  saving: 'answered, to be saved',
};

/** The rows in flight, the longest on their way first. `now` in ms since the epoch. */
export function viewFlight(
  tail: JournalTail,
  owner: Owner | undefined,
  survey: Survey,
  now: number,
): FlightView {
  const rows = [...tail.rows.values()].sort((one, other) => one.since - other.since);
  const isRunning = owner !== undefined && tail.starts > 0 && tail.exitCode === undefined;
  const shown = rows.slice(0, rowsShown).map((row) => rowOf(row, isRunning));
  return {
    state: stateOf(tail, isRunning ? owner : undefined, rows.length),
    facts: isRunning ? [...phaseFacts(rows), ...rateFacts(survey, now)] : restFacts(tail, rows.length),
    rows: shown,
    more: rows.length > rowsShown ? `and ${formatCount(rows.length - rowsShown)} more` : '',
  };
}

function stateOf({ starts }: JournalTail, owner: Owner | undefined, left: number): string {
  if (owner !== undefined) return `${countOf(left, 'row')} in flight, in process ${owner.pid}`;
  return starts === 0 ? 'No run has begun here yet' : 'Not running';
}

function restFacts({ starts, exitCode }: JournalTail, left: number): string[] {
  if (starts === 0) return ['This page shows it as soon as one does.'];
  const end =
    exitCode === undefined
      ? 'The last start was cut off: run it again to go on.'
      : `The last start ended with exit code ${exitCode}.`;
  if (left === 0) return [end];
  return [
    end,
    `${countOf(left, 'row')} had been sent by then: the next start asks for those whose job is known, and holds the others.`,
  ];
}

function phaseFacts(rows: readonly RowInFlight[]): string[] {
  const count = (phase: FlightPhase): number => rows.filter((row) => row.phase === phase).length;
  return [
    [count('sent'), 'waiting for an answer'] as const,
    [count('accepted'), 'at the service'] as const,
    [count('saving'), 'being saved'] as const,
  ].flatMap(([of, words]) => (of > 0 ? [`${formatCount(of)} ${words}`] : []));
}

/** Over the last two minutes of this start. */
function rateFacts({ rows, story, toDo }: Survey, now: number): string[] {
  const from = Math.max(story.starts.at(-1)?.at ?? 0, now - rateWindowMs);
  let ended = 0;
  for (const at of rows.places.endTimes) if (at >= from) ended++;
  if (ended === 0 || now - from < enoughMs) return [];
  const aMinute = (ended * 60_000) / (now - from);
  const rate = `${aMinute < 10 ? aMinute.toFixed(1) : formatCount(aMinute)} rows a minute`;
  return toDo > 0 ? [rate, `about ${formatSpan((toDo / aMinute) * 60_000)} left`] : [rate];
}

function rowOf(row: RowInFlight, isRunning: boolean): FlightRow {
  return {
    id: row.id,
    what: requestOf(row),
    place: places[row.phase],
    phase: row.phase,
    since: isRunning ? row.since : 0,
  };
}
