const headBytes = 64;
const key = [...Buffer.from('"k":"')];
const quote = 0x22;

/** What kind of record a line of the journal is, without parsing it; `undefined` where its head does not say. */
export function recordKind(line: Buffer): string | undefined {
  const end = Math.min(line.length, headBytes);
  let at = 0;
  while (at < end && !isKeyAt(line, at)) at++;
  const start = at + key.length;
  for (let close = start; close < end; close++)
    if (line[close] === quote) return line.toString('latin1', start, close);
  return undefined;
}

function isKeyAt(line: Buffer, at: number): boolean {
  for (let i = 0; i < key.length; i++) if (line[at + i] !== key[i]) return false;
  return true;
}
