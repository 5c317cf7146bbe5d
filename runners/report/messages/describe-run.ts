import type { Survey } from '../survey/survey-run.js';
import { countOf, formatCount, formatSpan, formatTotal } from './format-amounts.js';

/** What happened, in a few short sentences. */
export function describeRun(survey: Survey, isRunning = false): string {
  const { rows, heldRows, undownloaded, toDo, isRehearsal } = survey;
  const ended = rows.places.length - rows.toGo;
  const all = ended + toDo;
  const failed = ended - rows.completed - heldRows - undownloaded;
  const spent = spentWords(survey);
  const sentences = [
    isRunning
      ? `Running: ${formatCount(ended)} of ${countOf(all, 'row')} done${spent === '' ? '' : `, ${spent} so far`}`
      : `${completedWords(rows.completed, all)}${rows.completed > 0 ? tookWords(survey) : ''}${spent === '' ? '' : ` for ${spent}`}`,
    isRehearsal ? 'Rehearsal, nothing spent' : '',
    failed === 0 ? '' : `${formatCount(failed)} failed`,
    undownloadedWords(undownloaded, isRehearsal),
    heldWords(survey),
    toDo === 0 || isRunning ? '' : `${formatCount(toDo)} to go`,
  ];
  return sentences.flatMap((sentence) => (sentence === '' ? [] : `${sentence}.`)).join(' ');
}

function completedWords(completed: number, all: number): string {
  if (all === 0) return 'Nothing has ended yet';
  if (completed < all)
    return `${completed === 0 ? 'None' : formatCount(completed)} of ${countOf(all, 'row')} completed`;
  return all === 1 ? 'The row completed' : `All ${countOf(all, 'row')} completed`;
}

function tookWords({ workedMs }: Survey): string {
  return workedMs > 0 ? ` in ${formatSpan(workedMs)}` : '';
}

function spentWords({ money, isRehearsal }: Survey): string {
  const { reported, estimated } = money.total;
  if (reported + estimated === 0 || isRehearsal) return '';
  return `${estimated > 0 ? 'about ' : ''}${formatTotal(reported + estimated)}`;
}

/** The files of a rehearsal end with its emulator. */
function undownloadedWords(count: number, isRehearsal: boolean): string {
  if (count === 0) return '';
  if (isRehearsal) return `${formatCount(count)} ${count === 1 ? 'was' : 'were'} not downloaded`;
  return `${formatCount(count)} ${count === 1 ? 'is' : 'are'} paid and still to be downloaded`;
}

/** Money that may have been charged is shown even when no row is held for it: rows that were bought again, or whose job was lost. */
function heldWords({ heldRows, money, isRehearsal }: Survey): string {
  const { unknown } = money.total;
  const held = heldRows === 0 ? '' : `${formatCount(heldRows)} ${heldRows === 1 ? 'is' : 'are'} in doubt`;
  const sum = unknown > 0 && !isRehearsal ? `${formatTotal(unknown)} more may have been charged` : '';
  return [held, sum].filter(Boolean).join(', and ');
}
