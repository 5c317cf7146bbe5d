import { quoteValue } from '../quote-value.js';
import { hasHalfCharacter } from './wrong-key.js';

const longest = 1_000;

/** An id as text, `undefined` when the row has none, or what is wrong with it. Any text will do: files get safe names. */
export function rowId(value: unknown): { readonly id: string | undefined } | { readonly problem: string } {
  if (value === undefined) return { id: undefined };
  if (typeof value === 'number') return { id: String(value) };
  if (typeof value !== 'string') return { problem: `${quoteValue(value)} is neither text nor a number` };
  if (value.length > longest)
    return { problem: `has ${value.length} characters; at most ${longest} are taken` };
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value)) return { problem: 'holds a control character' };
  if (hasHalfCharacter(value))
    return {
      problem: `${quoteValue(value)} holds half a character, which no file name can; write the whole one`,
    };
  return { id: value };
}
