/** Puts a value below `target`, making objects on the way. Says what is in the way when it cannot, and changes nothing then. */
export function setPath(
  target: Record<string, unknown>,
  path: readonly string[],
  value: unknown,
): string | undefined {
  const [key = '', ...rest] = path;
  const there = Object.hasOwn(target, key) ? target[key] : undefined;
  if (rest.length === 0) {
    if (Object.hasOwn(target, key)) return `${key} is set by another column too`;
    target[key] = value;
    return undefined;
  }
  if (there !== undefined && !isObject(there)) return `${key} is set by another column, and is no object`;
  const child = { ...there };
  const problem = setPath(child, rest, value);
  if (problem === undefined) target[key] = child;
  return problem;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
