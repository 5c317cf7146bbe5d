import { createRequire } from 'node:module';

/** The advice if sharp is missing. In a separate file, because type declarations that name sharp need it installed. */
export const sharpAdvice = 'image edits need the package sharp: npm i sharp';

/** The advice to install sharp; `undefined` if it is installed. Does not load sharp. */
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
