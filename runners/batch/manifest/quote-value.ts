const shown = 60;

/** A value for a message, cut to 60 characters; text is in quotes. */
export function quoteValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value));
  return value === undefined ? 'nothing' : cut(JSON.stringify(value));
}

function cut(text: string): string {
  return text.length > shown ? `${text.slice(0, shown)}…` : text;
}

/** 1234567 → `1,234,567`. Without Intl, whose first call takes 15 ms. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 row`, `2 rows`. `plural` for nouns that do not just add an s. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** `a, b and 3 more`: those that are shown, of so many. */
export function someOf(shown: readonly string[], count: number): string {
  return `${shown.join(', ')}${count > shown.length ? ` and ${count - shown.length} more` : ''}`;
}

/** `a, b, …`: the same without the number of the others. */
export function firstOf(shown: readonly unknown[], count: number): string {
  return `${shown.join(', ')}${count > shown.length ? ', …' : ''}`;
}

/** A cell of a CSV line, in quotes if it needs them. */
export function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text of a value in a column; empty if it has none. */
export function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A command to paste into a shell: words that a shell would interpret are quoted. */
export function shellWords(...words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

/** Control characters, and characters that reverse the direction of text: a manifest must not control a terminal. */
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Text from a manifest as one line for a terminal: each control character becomes `?`. */
export function stripControls(text: string): string {
  return text.replace(controls, '?');
}
