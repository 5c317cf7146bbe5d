import { isPlainObject, parseJson } from './bounded-json.js';

/** An error as a service reports it: one line for people, and more detail. */
export interface ServiceErrorText {
  message: string;
  detail?: string;
}

const maxMessage = 1_000;
const maxDetail = 4_000;

/**
 * Reads the error of a job or a route from `error`, or else from `message`. An `error` that is JSON itself (`{error_type,
 * error_message, error_traceback}`) is parsed. `undefined` if there is none. (spec 7.2)
 */
export function serviceErrorText(body: unknown): ServiceErrorText | undefined {
  if (!isPlainObject(body)) return undefined;
  const reported = [body.error, body.message].map(unfold).find((found) => found !== undefined);
  if (reported === undefined) return undefined;
  const detail = reported.detail ?? textOf(body.detail);
  return {
    message: cut(reported.message, maxMessage),
    ...(detail !== undefined && { detail: cut(detail, maxDetail) }),
  };
}

function unfold(error: unknown): ServiceErrorText | undefined {
  const value = typeof error === 'string' ? (parsedObject(error) ?? error) : error;
  if (!isPlainObject(value)) return withMessage(textOf(value));
  const message = textOf(value.error_message) ?? textOf(value.message) ?? textOf(value.error);
  if (message === undefined) return withMessage(textOf(value));
  const type = textOf(value.error_type)?.replace(/^<class '(?:\w+\.)*(\w+)'>$/, '$1');
  const detail = textOf(value.error_traceback) ?? textOf(value.detail);
  return {
    message: type === undefined ? message : `${type}: ${message}`,
    ...(detail !== undefined && { detail }),
  };
}

function withMessage(message: string | undefined): ServiceErrorText | undefined {
  return message === undefined ? undefined : { message };
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  const value = parseJson(text, 2)?.value;
  return isPlainObject(value) ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
