import { countOf, formatCount, formatPeriod } from './messages/format-amounts.js';
import type { FailureGroup } from './messages/group-failures.js';
import { toneOf, type Tone } from './messages/status-label.js';
import { runAgain, whatToDo, type RunCommand, type ToDo } from './messages/what-to-do.js';
import { optionsToGoOn } from './survey/run-story.js';
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

/** What a person can do about the failures of a run and, where no process works on it, about the rows to go. */
export function viewToDos(survey: Survey, isRunning: boolean): ToDoView[] {
  return [
    ...survey.rows.causes.map((group, index) => viewToDo(group, index, survey)),
    ...(isRunning ? [] : toContinue(survey)),
  ];
}

function viewToDo(group: FailureGroup, index: number, survey: Survey): ToDoView {
  const { code, httpStatus, count, ids, firstAt, lastAt } = group;
  const facts = [
    code,
    httpStatus === undefined ? '' : `HTTP ${httpStatus}`,
    firstAt === undefined || lastAt === undefined ? '' : `failed ${formatPeriod(firstAt, lastAt)}`,
  ];
  return {
    ...whatToDo(group, runCommandOf(survey), survey.prices),
    filter: `cause-${index + 1}`,
    tone: toneOf(code),
    facts: facts.filter((fact) => fact !== '').join(' · '),
    ids,
    more: count > ids.length ? `and ${formatCount(count - ids.length)} more` : '',
  };
}

/** Rows without an outcome, where no process works on them. */
function toContinue(survey: Survey): ToDoView[] {
  const { toDo, isRehearsal } = survey;
  const command = runAgain(runCommandOf(survey));
  if (toDo === 0 || command === undefined) return [];
  return [
    {
      title: `${countOf(toDo, 'row')} to go`,
      cause: '',
      cost: isRehearsal ? 'Rehearsal, nothing spent.' : '',
      advice: 'Continue:',
      command,
      filter: '',
      tone: 'completed',
      facts: '',
      ids: [],
      more: '',
    },
  ];
}

function runCommandOf({ manifest, folder, story, isRehearsal }: Survey): RunCommand {
  return { manifest, folder, options: optionsToGoOn(story), isRehearsal };
}
