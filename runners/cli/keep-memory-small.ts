import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the process small for rows, which are short-lived: an old generation that is collected early, and a young one
 * that stays as it is. A command that works many rows has it grow once first: see make-room-for-rows.ts.
 */
export function keepMemorySmall(): void {
  setFlagsFromString('--heap-growing-percent=20');
  setFlagsFromString('--semi-space-growth-factor=1');
}
