/**
 * A line's JSON. Where its output is nested too deep for the stack, the reason stands in the output's place: the journal
 * has the output, and one line must not keep the others from being written.
 */
export function lineJson(line: object): string {
  try {
    return JSON.stringify(line);
  } catch (cause) {
    return JSON.stringify({ ...line, output: unwritable(cause) });
  }
}

/** What stands in the place of a value that cannot be written. */
export function unwritable(cause: unknown): string {
  return `(this value cannot be written as JSON: ${cause instanceof Error ? cause.message : String(cause)})`;
}
