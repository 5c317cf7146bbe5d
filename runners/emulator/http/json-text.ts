/** The JSON of a value that may have none, such as a function or `undefined`: then `undefined`. @throws TypeError for a cycle or a BigInt */
export function jsonText(value: unknown): string | undefined {
  return JSON.stringify(value);
}
