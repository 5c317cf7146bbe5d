import { version } from '../contract/version.js';

const userAgent = `millrace/${version}`;

/**
 * The headers of a request: the key on every one, the content type where there is a body. (spec 4.3, 5)
 * @param apiKey absent where none is configured: the service then answers 401
 */
export function wireHeaders(apiKey: string | undefined, hasBody: boolean): Record<string, string> {
  return {
    Accept: 'application/json',
    'User-Agent': userAgent,
    ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
    ...(hasBody && { 'Content-Type': 'application/json' }),
  };
}
