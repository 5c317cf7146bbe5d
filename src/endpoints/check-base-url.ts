import { checkHttpUrl } from '../contract/request-parts.js';
import { InvalidOptionError } from '../contract/millrace-error.js';

/**
 * The base URL as it is used: trailing slashes dropped.
 * @param option its name in messages
 * @throws InvalidOptionError for what is no plain http or https URL, and for a trailing `/v2`, which the paths carry already
 */
export function checkBaseUrl(baseUrl: string, option: string): string {
  const problem = checkHttpUrl(baseUrl) ?? problemOf(new URL(baseUrl));
  if (problem !== undefined) throw new InvalidOptionError(option, problem);
  return baseUrl.replace(/\/+$/, '');
}

function problemOf({ username, password, search, hash, pathname }: URL): string | undefined {
  if (username !== '' || password !== '') return 'carries a user name or password';
  if (search !== '' || hash !== '') return 'carries a query or a fragment';
  if (/\/v2\/*$/.test(pathname)) return 'ends in /v2: leave it out, the paths carry it';
  return undefined;
}
