const key = Buffer.from('"k":"');
const quote = 0x22;

/** What kind of record a line of the journal is, without parsing it; `undefined` where its head does not say. */
export function recordKind(line: Buffer): string | undefined {
  const head = line.subarray(0, 64);
  const at = head.indexOf(key);
  const end = at < 0 ? -1 : head.indexOf(quote, at + key.length);
  return end < 0 ? undefined : head.toString('latin1', at + key.length, end);
}
