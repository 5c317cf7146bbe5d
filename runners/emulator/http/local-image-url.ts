/** The path of local pictures below the emulator's address. */
export const filesPath = '/files';

/** The address of a picture below the emulator's folder `files`, by its relative path. */
export function localImageUrl(baseUrl: string, path: string): string {
  const segments = path.split(/[/\\]/).filter((segment) => segment !== '' && segment !== '.');
  return `${baseUrl}${filesPath}/${segments.map(encodeURIComponent).join('/')}`;
}
