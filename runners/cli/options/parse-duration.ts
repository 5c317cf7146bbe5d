const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
type Unit = keyof typeof unitMs;

const shape =
  /^(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/;

/** `90s`, `10m`, `1h30m`, `500ms` in milliseconds, or what is wrong with it. A number without a unit is refused: nobody should guess. */
export function parseDuration(text: string): { ms: number } | { problem: string } {
  if (/^\d+(\.\d+)?$/.test(text)) {
    return {
      problem: `"${text}" has no unit: write ${text}s for seconds, ${text}m for minutes or ${text}h for hours`,
    };
  }
  const parts = text === '' ? undefined : shape.exec(text)?.slice(1);
  if (parts === undefined) return { problem: `"${text}" is no duration: write it as 90s, 10m or 1h30m` };
  const units = Object.keys(unitMs) as Unit[];
  const ms = units.reduce((sum, unit, index) => sum + Number(parts[index] ?? 0) * unitMs[unit], 0);
  return { ms: Math.round(ms) };
}
