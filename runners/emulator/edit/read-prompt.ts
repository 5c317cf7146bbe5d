import { type Entry, type PromptEdit, toHex, vocabulary } from './prompt-vocabulary.js';

/** Text beyond this length is ignored. */
const maxLength = 10_000;

/** The plain edits that a prompt names, in the order in which it names them. Nothing else in it has any effect. */
export function readPrompt(prompt: string): PromptEdit[] {
  const text = prompt.slice(0, maxLength).replace(/\s+/g, ' ');
  const words = text.replace(quoted, (quote) => '"'.repeat(quote.length));
  const found = [...vocabulary.flatMap((entry) => matchesOf(entry, words)), ...captionsOf(text)];
  return found.sort((one, other) => one.at - other.at).map(({ edit }) => edit);
}

interface Found {
  at: number;
  edit: PromptEdit;
}

const quoted =
  /"[^"]{0,500}"|“[^”]{0,500}”|«[^»]{0,500}»|(?<![\p{L}\d])'[^']{0,500}'(?![\p{L}\d])|(?<![\p{L}\d])‘[^’]{0,500}’/gu;
const caption = new RegExp(
  `\\b(?:caption|title|label|text|words?|write|written|saying|says|reading)\\b[^"“«'‘]{0,20}(${quoted.source})`,
  'giu',
);
function matchesOf({ name, pattern, amount, sign = 1 }: Entry, words: string): Found[] {
  return [...words.matchAll(pattern)].map(({ index, groups }) => ({
    at: index,
    edit: {
      name,
      ...(amount !== undefined && { amount: sign * Number(groups?.amount ?? amount) }),
      ...(groups?.colour !== undefined && { colour: toHex(groups.colour) }),
    },
  }));
}

function captionsOf(prompt: string): Found[] {
  return [...prompt.matchAll(caption)].map(({ index, 1: text = '' }) => ({
    at: index,
    edit: { name: 'caption', text: text.slice(1, -1) },
  }));
}
