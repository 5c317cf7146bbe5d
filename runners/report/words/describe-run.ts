import type { Survey } from '../survey/survey-run.js';
import { allOf } from '../survey/sum-money.js';
import { countOf, formatCount, formatSpan, formatSum } from './amounts.js';

/** What happened, in one or two sentences. */
export function describeRun(survey: Survey): string {
  const { rows, heldRows, toDo } = survey;
  const ended = rows.places.length;
  if (ended === 0)
    return toDo > 0 ? `Nothing has ended yet: ${countOf(toDo, 'row')} to be done.` : 'Nothing has ended yet.';
  const failed = ended - rows.completed - heldRows;
  const many = failed + heldRows + toDo > 0;
  const first = many
    ? `${formatCount(rows.completed)} of ${countOf(ended + toDo, 'row')} completed`
    : ended === 1
      ? 'The row completed'
      : `All ${countOf(ended, 'row')} completed`;
  return `${first}${tookWords(survey)}${moneyWords(survey)}. ${restWords(failed, heldRows, toDo)}`.trim();
}

function tookWords({ workedMs }: Survey): string {
  return workedMs > 0 ? ` in ${formatSpan(workedMs)}` : '';
}

function moneyWords({ money }: Survey): string {
  const { reported, estimated, unknown } = money.total;
  if (allOf(money.total) === 0) return '';
  const about = estimated > 0 ? 'about ' : '';
  const held = unknown > 0 ? `, and ${formatSum(unknown)} may have been charged` : '';
  return ` for ${about}${formatSum(reported + estimated)}${held}`;
}

function restWords(failed: number, held: number, toDo: number): string {
  const parts = [
    failed > 0 ? `${formatCount(failed)} failed` : '',
    held > 0
      ? `${formatCount(held)} ${held === 1 ? 'is' : 'are'} held, because nobody knows whether ${held === 1 ? 'it was' : 'they were'} bought`
      : '',
    toDo > 0 ? `${formatCount(toDo)} ${toDo === 1 ? 'is' : 'are'} still to be done` : '',
  ].filter((part) => part !== '');
  const joined =
    parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}` : (parts[0] ?? '');
  return joined === '' ? '' : `${joined}.`;
}
