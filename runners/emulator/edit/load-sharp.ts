import type { Sharp, SharpInput, SharpOptions } from 'sharp';
import { sharpAdvice } from './missing-sharp.js';

export interface SharpModule {
  (options: SharpOptions): Sharp;
  (input: SharpInput, options?: SharpOptions): Sharp;
}

/**
 * Loads sharp for the first picture, because it takes 20 MB of memory that nothing else needs.
 * @throws Error with the advice `npm i sharp`
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
