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

/** The text in place of a value that cannot be written. */
export function unwritable(cause: unknown): string {
  return `(this value cannot be written as JSON: ${cause instanceof Error ? cause.message : String(cause)})`;
}

const opening = Buffer.from('{"id":"');

/** The id of a line of results.jsonl or failures.jsonl, without parsing the rest of it. */
export function lineId(line: Buffer): string {
  if (!line.subarray(0, opening.length).equals(opening)) {
    const { id } = JSON.parse(line.toString()) as { id: string };
    return id;
  }
  let end = opening.length;
  while (end < line.length && line[end] !== 0x22) end += line[end] === 0x5c ? 2 : 1;
  return JSON.parse(line.toString('utf8', opening.length - 1, end + 1)) as string;
}
