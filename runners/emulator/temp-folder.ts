import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder below the system's temporary one, created on first use. */
export interface TempFolder {
  /** @throws Error after it was removed */
  path(): string;
  /** Removes it with its content. */
  remove(): void;
}

/** The folder of one emulator: pictures, and the part of the bill that is no longer in memory. */
export function createTempFolder(): TempFolder {
  let made: string | undefined;
  let isRemoved = false;
  return {
    path() {
      if (isRemoved) throw new Error('the emulator is closed');
      return (made ??= mkdtempSync(join(tmpdir(), 'millrace-emulator-')));
    },
    remove() {
      isRemoved = true;
      if (made !== undefined) rmSync(made, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
