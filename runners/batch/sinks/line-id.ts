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
