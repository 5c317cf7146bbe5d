import { filesPath } from './add-picture-calls.js';

/** The address at which an emulator with a folder `files` serves the picture at a path relative to it. */
export function localImageUrl(baseUrl: string, path: string): string {
  const segments = path.split(/[/\\]/).filter((segment) => segment !== '' && segment !== '.');
  return `${baseUrl}${filesPath}/${segments.map(encodeURIComponent).join('/')}`;
}
