import { formatCount, formatPeriod } from './messages/format-amounts.js';
import type { FailureGroup } from './messages/group-failures.js';
import { toneOf, type Tone } from './messages/status-label.js';
import { forEarlierRows, runAgainCommand, type RunCommand } from './messages/run-again.js';
import { ofEarlierManifest, toGoOn, whatToDo, type ToDo } from './messages/what-to-do.js';
import type { Survey } from './survey/survey-run.js';

/** One thing to do, as the templates show it. */
export interface ToDoView extends ToDo {
  /** Name of the gallery's filter. */
  readonly filter: string;
  readonly tone: Tone;
  /** Code, HTTP status, and when the first and the last of them failed. */
  readonly facts: string;
  readonly ids: readonly string[];
  readonly more: string;
}

/** What a person can do about the failures of a run and, if no process works on it, about the rows to go. */
export function viewToDos(survey: Survey, isRunning: boolean): ToDoView[] {
  const run = runCommandOf(survey);
  const { rows, prices } = survey;
  const todos = whatToDo(rows.causes, run, prices, isRunning ? 0 : survey.toDo);
  const rest = isRunning ? [] : toGoOnOf(survey, run);
  const ofNoRows = { filter: '', tone: 'completed', facts: '', ids: [], more: '' } as const;
  return [
    ...todos.map((todo, index) => ({ ...todo, ...factsOf(rows.causes[index] as FailureGroup, index) })),
    ...rest.map((todo) => ({ ...todo, ...ofNoRows })),
  ];
}

/** Rows to go of the last manifest, then those of each earlier one. */
function toGoOnOf({ toDo, toGoEarlier = [], story, caps, reason }: Survey, run: RunCommand): ToDo[] {
  return [
    ...toGoOn(toDo, run, story.isAtRest ? { ...story.stops.at(-1), caps, reason } : {}),
    ...toGoEarlier.flatMap(({ manifest, rows }) =>
      toGoOn(rows, forEarlierRows(run, manifest), {}, ofEarlierManifest),
    ),
  ];
}

function factsOf(
  { code, httpStatus, count, ids, firstAt, lastAt }: FailureGroup,
  index: number,
): Omit<ToDoView, keyof ToDo> {
  const facts = [
    code,
    httpStatus === undefined ? '' : `HTTP ${httpStatus}`,
    firstAt === undefined || lastAt === undefined ? '' : formatPeriod(firstAt, lastAt),
  ];
  return {
    filter: `cause-${index + 1}`,
    tone: toneOf(code),
    facts: facts.filter((fact) => fact !== '').join(' · '),
    ids,
    more: count > ids.length ? `and ${formatCount(count - ids.length)} more` : '',
  };
}

function runCommandOf(survey: Survey): RunCommand {
  const { story, isRehearsal } = survey;
  const folders = { folder: survey.folder, another: survey.another };
  const last = story.starts.at(-1);
  if (last === undefined) return { manifest: '', ...folders, options: [], isRehearsal };
  return runAgainCommand(story.starts, last, folders);
}
