import type { Survey } from '../survey/survey-run.js';
import { countOf, formatCount, formatSpan, formatSum } from './format-amounts.js';

/** What happened, in a sentence or two. */
export function describeRun(survey: Survey): string {
  const { rows, heldRows, toDo } = survey;
  const ended = rows.places.length;
  if (ended === 0)
    return toDo > 0 ? `Nothing has ended yet: ${countOf(toDo, 'row')} to be done.` : 'Nothing has ended yet.';
  const all = ended + toDo;
  const first =
    rows.completed < all
      ? `${rows.completed === 0 ? 'None' : formatCount(rows.completed)} of ${countOf(all, 'row')} completed`
      : all === 1
        ? 'The row completed'
        : `All ${countOf(all, 'row')} completed`;
  const rest = [failedWords(ended - rows.completed - heldRows), heldWords(survey)];
  const sentences = [
    `${first}${tookWords(survey)}${moneyWords(survey)}`,
    rest.filter((part) => part !== '').join(', and '),
    unknownWords(survey),
    toDoWords(toDo),
  ];
  return sentences.flatMap((sentence) => (sentence === '' ? [] : `${sentence}.`)).join(' ');
}

function tookWords({ workedMs }: Survey): string {
  return workedMs > 0 ? ` in ${formatSpan(workedMs)}` : '';
}

function moneyWords({ money }: Survey): string {
  const { reported, estimated } = money.total;
  if (reported + estimated === 0) return '';
  return ` for ${estimated > 0 ? 'about ' : ''}${formatSum(reported + estimated)}`;
}

function failedWords(failed: number): string {
  return failed === 0 ? '' : `${formatCount(failed)} failed`;
}

function heldWords({ heldRows, money }: Survey): string {
  if (heldRows === 0) return '';
  const price = money.total.unknown > 0 ? ` for ${formatSum(money.total.unknown)}` : '';
  return `${formatCount(heldRows)} ${heldRows === 1 ? 'is held: it' : 'are held: they'} may have been bought${price}`;
}

/** No row is held for it any more: rows that were bought again, or whose job nobody knows. */
function unknownWords({ heldRows, money }: Survey): string {
  const { unknown } = money.total;
  return heldRows === 0 && unknown > 0 ? `${formatSum(unknown)} more may have been charged` : '';
}

function toDoWords(toDo: number): string {
  return toDo === 0 ? '' : `${formatCount(toDo)} ${toDo === 1 ? 'is' : 'are'} still to be done`;
}
