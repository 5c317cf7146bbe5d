/** Text beyond this length is ignored. */
const maxLength = 10_000;

/** Finds the edits that a prompt names, in its order. The rest of the prompt has no effect. */
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

/** Colours that a prompt may name; `#rgb` and `#rrggbb` are understood as well. */
const colours = {
  black: '#000000',
  white: '#ffffff',
  gray: '#808080',
  grey: '#808080',
  silver: '#c0c0c0',
  red: '#e53935',
  orange: '#fb8c00',
  gold: '#d4af37',
  yellow: '#fdd835',
  green: '#43a047',
  teal: '#00897b',
  cyan: '#00acc1',
  blue: '#1e88e5',
  navy: '#1a237e',
  purple: '#8e24aa',
  violet: '#7e57c2',
  magenta: '#d81b9a',
  pink: '#f48fb1',
  brown: '#6d4c41',
  beige: '#f5f5dc',
} as const;

/** A pattern that matches the name of a colour or its hex digits. */
const colourPattern = `(?:#[0-9a-f]{6}|#[0-9a-f]{3}|\\b(?:${Object.keys(colours).join('|')})\\b)`;

/** `gold` → `#d4af37`, `#f80` → `#ff8800`. */
export function toHex(colour: string): string {
  const name = colour.toLowerCase();
  if (Object.hasOwn(colours, name)) return colours[name as keyof typeof colours];
  return name.length === 4 ? name.replace(/[0-9a-f]/g, '$&$&') : name;
}

export interface Entry {
  name: EditName;
  pattern: RegExp;
  /** Defaults for values that the prompt does not give. */
  amount?: number;
  /** Converts the number in the prompt. */
  sign?: 1 | -1;
}

const number = String.raw`(?:\s+(?:it|them|(?:the|all|both|each)?\s*(?:images?|pictures?|photos?)))?(?:\s+(?:by|to|of|with|at))?\s*(?<amount>-?\d+(?:\.\d+)?)?`;
const colour = String.raw`(?:[^.;,"]{0,20}?(?<colour>${colourPattern}))?`;
const unlessDenied = String.raw`(?<!\b(?:no|not|without|never|don't|do not)\s+(?:any\s+|a\s+)?)`;

/** Each entry finds its words anywhere in the prompt, unless they are negated ("do not blur"). */
export const vocabulary: readonly Entry[] = [
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
  entry('tint', `(?<!${colourPattern} )tint(?:ed)?\\b${colour}`),
  entry('tint', `(?<colour>${colourPattern}) tint(?:ed)?\\b`),
  entry('pixelate', `pixelat(?:e|ed)\\b${number}`, { amount: 16 }),
  entry('posterize', `posteri[sz]ed?\\b${number}`, { amount: 4 }),
  entry('vignette', 'vignette\\b'),
  entry('border', `(?<!${colourPattern} )(?:border|frame)\\b${number}${colour}`, { amount: 24 }),
  entry('border', `(?<colour>${colourPattern}) (?:border|frame)\\b${number}`, { amount: 24 }),
];

/** A pattern for at most a few words between two that belong together. */
function gap(): string {
  return String.raw`\s+(?:[\p{L}]+\s+){0,3}?`;
}

function entry(name: EditName, words: string, rest: Omit<Entry, 'name' | 'pattern'> = {}): Entry {
  return { name, pattern: new RegExp(`${unlessDenied}\\b${words}`, 'giu'), ...rest };
}

export interface PromptEdit {
  name: EditName;
  /** Degrees, per cent, pixels at 1k or levels, depending on the edit. */
  amount?: number | undefined;
  /** A colour as `#rrggbb`. */
  colour?: string | undefined;
  /** What to write. */
  text?: string | undefined;
}

export type EditName =
  | Geometry
  | Arrangement
  | 'grayscale'
  | 'sepia'
  | 'invert'
  | 'warm'
  | 'cool'
  | 'blur'
  | 'sharpen'
  | 'brighten'
  | 'darken'
  | 'contrast'
  | 'saturate'
  | 'hue'
  | 'tint'
  | 'pixelate'
  | 'posterize'
  | 'vignette'
  | 'border'
  | 'caption';

/** Turns each reference picture before they are combined. */
export type Geometry = 'rotate' | 'flip' | 'mirror';

/** How several pictures are combined, instead of tidy rows. */
export type Arrangement = 'side-by-side' | 'stack' | 'blend' | 'inset';
