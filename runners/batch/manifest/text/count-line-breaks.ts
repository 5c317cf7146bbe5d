const lineFeed = 10;
const carriageReturn = 13;

/** Line breaks in bytes: `\n`, `\r\n` and a lone `\r` are one each. */
export function countLineBreaks(bytes: Uint8Array): number {
  let breaks = 0;
  let at = bytes.indexOf(lineFeed);
  while (at !== -1) {
    breaks++;
    at = bytes.indexOf(lineFeed, at + 1);
  }
  return breaks + countLoneReturns(bytes);
}

function countLoneReturns(bytes: Uint8Array): number {
  let returns = 0;
  let at = bytes.indexOf(carriageReturn);
  while (at !== -1) {
    if (bytes[at + 1] !== lineFeed) returns++;
    at = bytes.indexOf(carriageReturn, at + 1);
  }
  return returns;
}
