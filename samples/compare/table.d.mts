import type { Verdict } from './compare.mjs';

export function table(verdicts: readonly Verdict[]): string;
