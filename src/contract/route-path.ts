/**
 * What is wrong with the path of a load-balanced route, or `undefined`. A path stays below {lb_base_url}, so that the
 * key goes to no other host; a query behind `?` is fine.
 */
export function checkRoutePath(route: string): string | undefined {
  if (route === '' || route === '/') return 'is empty';
  if (/[\s\u0000-\u001f\u007f]/.test(route)) return 'contains white space or a control character';
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

/** URL parsers take `%2e` for a dot. */
function isDots(segment: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(segment);
}
