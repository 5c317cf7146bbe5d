const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** `250`, `250ms`, `1.5s`, `2m`, `1h` → ms; anything else `undefined`. */
export function parseMilliseconds(text: string): number | undefined {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim());
  if (found?.[1] === undefined) return undefined;
  return Number(found[1]) * units[(found[2] ?? 'ms') as keyof typeof units];
}
