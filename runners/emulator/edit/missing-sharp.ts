import { createRequire } from 'node:module';

/** The package to install when sharp is missing. It has its own file, because a declaration that names sharp needs it installed. */
export const sharpAdvice = 'image edits need the package sharp: npm i sharp';

/** The package to install before the first image edit; `undefined` when it is there. Does not load sharp. */
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
