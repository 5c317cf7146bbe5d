import { dirname, isAbsolute, relative } from 'node:path';
import { countOf, formatCount, formatSpan } from '../../report/messages/format-amounts.js';

/** Terminal escape sequences: CSI, OSC and two-character ones. */
const escapeSequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
/** Control characters, with line and paragraph separators and bidi overrides. */
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;

/**
 * Text of the service or the manifest as one safe line for a terminal: escape sequences are removed, a series of other control
 * characters becomes a space, and text longer than `maxLength` characters is cut with an ellipsis.
 *
 * @defaultValue maxLength 500
 */
export function plainText(text: string, maxLength = 500): string {
  const plain = text
    .slice(0, maxLength * 4)
    .replace(escapeSequences, '')
    .replace(controls, ' ')
    .trim();
  return plain.length > maxLength ? `${plain.slice(0, maxLength - 1)}…` : plain;
}

/** The value of a setting for a message. */
export function settingText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * A path for messages and commands: relative if it is below `cwd`, unless that is the root of a disk; otherwise absolute. With
 * `./` before a leading dash, which would make it an option.
 */
export function shownPath(path: string, cwd: string): string {
  const below = relative(cwd, path);
  const isFar = below.startsWith('..') || isAbsolute(below) || dirname(cwd) === cwd;
  const shown = isFar ? path : below.replace(/^(?=-)/, './');
  return plainText(shown === '' ? '.' : shown);
}

/** A label in its own column, then the text. Further lines are indented below the text. Without a text there is no line. */
export function fact(label: string, text: string | false, more: readonly string[] = []): string[] {
  if (text === false || text === '') return [];
  const head = `  ${label.padEnd(12)} `;
  return [head + text, ...more.map((line) => ' '.repeat(head.length) + line)];
}

/** The parts that are not empty, separated by commas. */
export function listed(parts: readonly (string | false | undefined)[], separator = ', '): string {
  return parts.filter((part) => typeof part === 'string').join(separator);
}

export { formatMoney } from '../../../src/contract/micro-dollars.js';
export { countOf, formatCount };

/** `3 Nov, 14:05:59` */
export function timeText(at: number): string {
  const date = new Date(at);
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return `${day}, ${date.toLocaleTimeString('en-GB')}`;
}

/** A duration in ms for people: `45 s`, `4 min`, `2 h 05 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 90 ? `${seconds} s` : formatSpan(seconds * 1000);
}
