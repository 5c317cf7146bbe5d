import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder under the system's temporary one that is made when it is first asked for. */
export interface TempFolder {
  path(): string;
  /** Removes it with all that is in it. */
  remove(): void;
}

/** The folder of one emulator: pictures, and the part of the bill that is no longer in memory. */
export function createTempFolder(): TempFolder {
  let made: string | undefined;
  return {
    path: () => (made ??= mkdtempSync(join(tmpdir(), 'millrace-emulator-'))),
    remove() {
      if (made !== undefined) rmSync(made, { recursive: true, force: true });
      made = undefined;
    },
  };
}
