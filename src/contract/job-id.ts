/** A longer id fits into no URL; live services give some 40 characters. */
const maxLength = 1_000;

/**
 * Whether the service can be asked for a job under this id: text that stays one piece of a path, and that a URL can hold.
 * `.` and `..` would lead to another path, and half a surrogate pair cannot be encoded.
 */
export function isJobId(text: unknown): text is string {
  if (typeof text !== 'string' || text === '' || text.length > maxLength) return false;
  return text !== '.' && text !== '..' && !/\p{Surrogate}/u.test(text);
}
