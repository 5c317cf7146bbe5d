import { colourPattern, toHex } from './colours.js';
import type { EditName, PromptEdit } from './prompt-edit.js';

/** The plain edits that a prompt names, in the order in which it names them. Nothing else in it has any effect. */
export function readPrompt(prompt: string): PromptEdit[] {
  const words = prompt.replace(quoted, (text) => ' '.repeat(text.length));
  const found = [...vocabulary.flatMap((entry) => matchesOf(entry, words)), ...captionsOf(prompt)];
  return found.sort((one, other) => one.at - other.at).map(({ edit }) => edit);
}

interface Entry {
  name: EditName;
  pattern: RegExp;
  /** When the pattern does not say. */
  amount?: number;
  /** Turns the number that was found. */
  sign?: 1 | -1;
}

interface Found {
  at: number;
  edit: PromptEdit;
}

const quoted = /"[^"]*"|“[^”]*”|«[^»]*»|(?<![\p{L}\d])'[^']*'(?![\p{L}\d])|(?<![\p{L}\d])‘[^’]*’/gu;
const caption = new RegExp(
  `\\b(?:caption|title|label|text|words?|write|written|saying|says|reading)\\b[^"“«'‘]{0,20}(${quoted.source})`,
  'giu',
);
const number = String.raw`(?:\s+(?:it|them|(?:the|all|both|each)?\s*(?:images?|pictures?|photos?)))?(?:\s+(?:by|to|of|with|at))?\s*(?<amount>-?\d+(?:\.\d+)?)?`;
const colour = String.raw`(?:[^.;,"]{0,20}?(?<colour>${colourPattern}))?`;
const unlessDenied = String.raw`(?<!\b(?:no|not|without|never|don't|do not)\s+(?:any\s+|a\s+)?)`;

/** Each entry finds its words anywhere in the prompt, unless they are denied ("do not blur"). */
const vocabulary: readonly Entry[] = [
  entry('rotate', `rotat(?:e|ed|ing)\\b(?!${gap()}(?:left|counter|anti))${number}`, { amount: 90 }),
  entry('rotate', `rotat(?:e|ed|ing)\\b${gap()}(?:left|counter-?clockwise|anti-?clockwise)\\b${number}`, {
    amount: 90,
    sign: -1,
  }),
  entry('flip', `(?:flip(?:ped)?(?!${gap()}horizontal)|upside[ -]down)\\b`),
  entry('mirror', `(?:mirror(?:ed)?|flip(?:ped)?${gap()}horizontally)\\b`),
  entry('side-by-side', 'side[ -]by[ -]side\\b'),
  entry('stack', '(?:stack(?:ed)?|on top of (?:each other|one another)|one above the other)\\b'),
  entry('blend', '(?:blend(?:ed)?|double exposure|overlaid|overlay|superimposed?)\\b'),
  entry('inset', '(?:inset|picture[ -]in[ -]picture)\\b'),
  entry('grayscale', '(?:gr[ae]y-?\\s?scale|black[ -](?:and|&)[ -]white|monochrome|desaturated?)\\b'),
  entry('sepia', '(?:sepia|vintage)\\b'),
  entry('invert', '(?:invert(?:ed)?|negative)\\b'),
  entry('warm', 'warm(?:er)?\\b'),
  entry('cool', 'cool(?:er)?\\b'),
  entry('blur', `blur(?:red|ry)?\\b${number}`, { amount: 6 }),
  entry('sharpen', `sharp(?:en|ened|er)\\b${number}`, { amount: 2 }),
  entry('brighten', `bright(?:en|ened|er)\\b${number}`, { amount: 25 }),
  entry('darken', `dark(?:en|ened|er)\\b${number}`, { amount: 25 }),
  entry('contrast', `(?<!less )(?<!lower )contrast\\b${number}`, { amount: 30 }),
  entry('contrast', `(?:less|lower) contrast\\b${number}`, { amount: 30, sign: -1 }),
  entry('saturate', `(?:saturated?|vivid|vibrant|colou?rful)\\b${number}`, { amount: 60 }),
  entry('hue', `hue\\b${number}`, { amount: 90 }),
  entry('tint', `tint(?:ed)?\\b${colour}`),
  entry('tint', `(?<colour>${colourPattern}) tint(?:ed)?\\b`),
  entry('pixelate', `pixelat(?:e|ed)\\b${number}`, { amount: 16 }),
  entry('posterize', `posteri[sz]ed?\\b${number}`, { amount: 4 }),
  entry('vignette', 'vignette\\b'),
  entry('border', `(?<!${colourPattern} )(?:border|frame)\\b${number}${colour}`, { amount: 24 }),
  entry('border', `(?<colour>${colourPattern}) (?:border|frame)\\b${number}`, { amount: 24 }),
];

/** A few words between two that belong together. */
function gap(): string {
  return String.raw`\s+(?:[\p{L}]+\s+){0,3}?`;
}

function entry(name: EditName, words: string, rest: Omit<Entry, 'name' | 'pattern'> = {}): Entry {
  return { name, pattern: new RegExp(`${unlessDenied}\\b${words}`, 'giu'), ...rest };
}

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
