import type { Sharp, SharpInput, SharpOptions } from 'sharp';
import { sharpAdvice } from './missing-sharp.js';

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
