const shown = 60;

/** A value as a message shows it: in quotes when it is text, cut to 60 characters. */
export function quoteValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value));
  return value === undefined ? 'nothing' : cut(JSON.stringify(value));
}

function cut(text: string): string {
  return text.length > shown ? `${text.slice(0, shown)}…` : text;
}
