/** Texts and numbers of a JSON text. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** The first whole number of a JSON text that has more digits than a number keeps here: another one would be sent. */
export function lostDigits(text: string): string | undefined {
  for (const [token] of text.matchAll(tokens)) if (/^-?\d{16,}$/.test(token) && isLost(token)) return token;
  return undefined;
}

/** What is printed again as it was written is sent so, whatever lies between. */
function isLost(digits: string): boolean {
  const value = Number(digits);
  return String(value) !== digits && BigInt(digits) !== BigInt(value);
}
