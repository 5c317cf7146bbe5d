import { setTimeout as pause } from 'node:timers/promises';

/** Waits for something that another process brings about; the test's own limit ends the wait. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(10);
}
