import { setFlagsFromString, getHeapSpaceStatistics } from 'node:v8';

/**
 * Keeps the process small for rows, which are short-lived: an old generation that is collected early, and a young one
 * that stays as it is. A command that works many rows has it grow once first: see make-room-for-rows.ts.
 */
export function keepMemorySmall(): void {
  setFlagsFromString('--heap-growing-percent=20');
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** So often at most is more allocated; it takes about twenty. */
const tries = 100;

/**
 * Lets the young generation grow fourfold, once. As small as it begins a run took a third more CPU; as large as it would
 * grow, 25 MB more memory. How far it may grow cannot be said once node runs, how much at a time can. It takes about
 * 10 ms, so that only what works many rows does it.
 */
export function makeRoomForRows(): void {
  setFlagsFromString('--semi-space-growth-factor=4');
  growYoungGeneration();
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** It grows once more has survived in it than it can hold. */
function growYoungGeneration(): void {
  const before = youngBytes();
  const survivors: object[] = [];
  for (let turn = 0; turn < tries && youngBytes() < 4 * before; turn++)
    survivors.push(Array.from({ length: 2_000 }, (_, number) => ({ number })));
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}
