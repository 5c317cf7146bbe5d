import { lostDigits } from './lost-digits.js';
import { wrongKey } from './wrong-key.js';

const deepest = 100;

/** Why a JSON text is not taken. */
export interface JsonProblem {
  readonly problem: string;
  readonly isNoJson?: true;
  /** The key of the outermost object that the problem stands below, where that is known. */
  readonly below?: string;
}

/**
 * The value of a JSON text, or why it is none that can be sent on: too deep, a number that JSON has no place for, a key
 * that stands twice.
 */
export function parseJson(text: string): { readonly value: unknown } | JsonProblem {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `is no JSON: ${reason((error as Error).message)}`, isNoJson: true };
  }
  if (typeof value !== 'object') return { value };
  const problem = problemIn(value, 1) ?? lost(text);
  return problem === undefined ? (wrongKey(text, value) ?? { value }) : { problem };
}

function lost(text: string): string | undefined {
  const number = /\d{16}/.test(text) ? lostDigits(text) : undefined;
  return number && `holds ${number}, which has more digits than a number keeps: write it in quotes`;
}

/** V8's words without the text around the place, which the row has already, and without lines and columns: the manifest has its own. */
function reason(message: string): string {
  const words = message
    .replace(/, (\.\.\.)?".*/s, '')
    .replace(/ \(line \d+ column \d+\)$/, '')
    .slice(0, 120);
  return words.charAt(0).toLowerCase() + words.slice(1);
}

function problemIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : 'holds a number that is too large';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > deepest) return `is nested deeper than ${deepest} levels`;
  for (const entry of Object.values(value)) {
    const problem = problemIn(entry, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
