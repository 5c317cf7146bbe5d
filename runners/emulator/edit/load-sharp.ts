import type { Sharp, SharpInput, SharpOptions } from 'sharp';

/** The function that sharp exports. */
export interface SharpModule {
  (options: SharpOptions): Sharp;
  (input: SharpInput, options?: SharpOptions): Sharp;
}

/** What to do when the package is not there. */
export const sharpMissing = 'the image-edit endpoint needs the package sharp: npm i sharp';

/** Loads sharp when the first picture is made: 20 MB that nothing else needs. @throws Error that says `npm i sharp` */
export async function loadSharp(): Promise<SharpModule> {
  try {
    return (await import('sharp')).default;
  } catch (cause) {
    throw new Error(sharpMissing, { cause });
  }
}
