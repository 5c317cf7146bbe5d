export { checkRoutePath } from './route-path.js';

/** What is wrong with an endpoint's id, or `undefined`. An id is one path segment: it never names another host or path. */
export function checkEndpointId(id: string): string | undefined {
  if (id === '') return 'is empty';
  if (id.length > 200) return 'is longer than 200 characters';
  if (!/^[A-Za-z0-9][\w.~-]*$/.test(id))
    return 'may hold only letters, digits, ".", "_", "~" and "-", and begins with a letter or digit';
  return undefined;
}
