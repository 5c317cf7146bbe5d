import type { Sharp, SharpInput, SharpOptions } from 'sharp';
import { createRequire } from 'node:module';

/** The function that sharp exports. */
export interface SharpModule {
  (options: SharpOptions): Sharp;
  (input: SharpInput, options?: SharpOptions): Sharp;
}

/**
 * Loads sharp when the first picture is made: 20 MB that nothing else needs.
 * @throws Error that says `npm i sharp`
 */
export async function loadSharp(
  importSharp: () => Promise<{ default: SharpModule }> = () => import('sharp'),
): Promise<SharpModule> {
  try {
    return (await importSharp()).default;
  } catch (cause) {
    throw new Error(sharpAdvice, { cause });
  }
}

/** What to install where sharp is missing. */
const sharpAdvice = 'image edits need the package sharp: npm i sharp';

/** What to install before the first image edit, or `undefined`. Looks for sharp without loading it. */
export function missingSharp(
  find: (name: string) => string = createRequire(import.meta.url).resolve,
): string | undefined {
  try {
    find('sharp');
    return undefined;
  } catch {
    return sharpAdvice;
  }
}
