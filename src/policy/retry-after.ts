/** A service that asks for more is obeyed up to 10 minutes. */
const maxRetryAfterMs = 600_000;

/** The three date forms of RFC 9110: `Sun, 06 Nov 1994 08:49:37 GMT`, with dashes and a short year, and without a zone. */
const httpDate =
  /^[A-Za-z]{3,9},? (\d{2}[ -][A-Za-z]{3}[ -]\d{2,4}|[A-Za-z]{3} [ \d]\d) \d{2}:\d{2}:\d{2}( GMT| \d{4})$/;

/**
 * The wait in ms that a Retry-After header asks for, from seconds or a date; `undefined` when there is none, or none
 * that can be read. 0, or a date that is past, is 0; a year is 10 minutes.
 * @param nowMs the time of the reply in ms since the epoch
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : untilDate(text, nowMs);
  return waitMs === undefined ? undefined : Math.min(Math.max(waitMs, 0), maxRetryAfterMs);
}

function untilDate(text: string, nowMs: number): number | undefined {
  if (!httpDate.test(text)) return undefined;
  // eslint-disable-next-line no-restricted-globals -- reads a date that is given, not the clock
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : at - nowMs;
}
