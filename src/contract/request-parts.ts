const blankOrControl = /[\s\u0000-\u001f\u007f]/;

/** What is wrong with an API key, or `undefined`. Never quotes the key. */
export function checkApiKey(key: unknown): string | undefined {
  if (typeof key !== 'string') return 'is not text';
  if (key === '') return 'is empty';
  return /^[\x21-\x7e]+$/.test(key)
    ? undefined
    : 'contains white space or a character that no header may carry';
}

/**
 * What is wrong with an endpoint's id, or `undefined`. An id must be one path segment, so that it never leads to another host
 * or path.
 */
export function checkEndpointId(id: unknown): string | undefined {
  if (typeof id !== 'string') return 'is not text';
  if (id === '') return 'is empty';
  if (id.length > 200) return 'is longer than 200 characters';
  if (!/^[A-Za-z0-9][\w.~-]*$/.test(id))
    return 'may hold only letters, digits, ".", "_", "~" and "-", and begins with a letter or digit';
  return undefined;
}

/**
 * What is wrong with the path of a load-balanced route, or `undefined`. A path must stay below {lb_base_url}, so that the key
 * goes to no other host. It may have a query.
 */
export function checkRoutePath(route: unknown): string | undefined {
  if (typeof route !== 'string') return 'is not text';
  if (route === '' || route === '/') return 'is empty';
  if (blankOrControl.test(route)) return 'contains white space or a control character';
  if (route.includes('\\')) return 'contains a backslash';
  if (
    route.startsWith('//') ||
    /^[a-z][a-z\d+.-]*:/i.test(route) ||
    /^\/(https?|wss?|ftp|file):/i.test(route)
  )
    return 'names another host: only a path is allowed';
  if (route.includes('#')) return 'contains "#"';
  const path = route.split('?', 1)[0] ?? '';
  if (path.split('/').some(isDots)) return 'contains a segment "." or ".."';
  return undefined;
}

/** URL parsers read `%2e` as a dot. */
function isDots(segment: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(segment);
}

/** What is wrong with a URL that the service is to call or fetch, or `undefined`. It must be an absolute http or https URL. */
export function checkHttpUrl(url: unknown): string | undefined {
  if (typeof url !== 'string') return 'is not text';
  if (url === '') return 'is empty';
  if (blankOrControl.test(url)) return 'contains white space or a control character';
  if (!/^https?:\/\//i.test(url)) return 'is not an http or https URL';
  return URL.canParse(url) ? undefined : 'is not a valid URL';
}

/** A longer id fits into no URL; ids of live services have some 40 characters. */
const maxJobIdLength = 1_000;

/**
 * Whether an id can be one path segment of a URL, to ask the service for the job. `.` and `..` would lead to another path, and
 * half a surrogate pair cannot be encoded.
 */
export function isJobId(text: unknown): text is string {
  if (typeof text !== 'string' || text === '' || text.length > maxJobIdLength) return false;
  return text !== '.' && text !== '..' && !/\p{Surrogate}/u.test(text);
}
