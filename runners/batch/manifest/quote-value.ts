const shown = 60;

/** A value as a message shows it: in quotes when it is text, cut to 60 characters. */
export function quoteValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value));
  return value === undefined ? 'nothing' : cut(JSON.stringify(value));
}

function cut(text: string): string {
  return text.length > shown ? `${text.slice(0, shown)}…` : text;
}

/** A command as it can be pasted into a shell: words that a shell would read otherwise are quoted. */
export function shellWords(...words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

/** Control characters, and those that turn the direction of text around: a terminal must not obey a manifest. */
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Makes text from a manifest fit for one line of a terminal: each control character becomes `?`. */
export function stripControls(text: string): string {
  return text.replace(controls, '?');
}
