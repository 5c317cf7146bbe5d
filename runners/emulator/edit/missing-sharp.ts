import { createRequire } from 'node:module';

/** What to install where sharp is missing. In a file of its own: a declaration that names sharp needs it installed. */
export const sharpAdvice = 'image edits need the package sharp: npm i sharp';

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
