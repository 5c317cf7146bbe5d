import * as z from 'zod';
import { parseLatency } from '../../emulator/settings/parse-latency.js';
import { parseFaults } from '../../emulator/faults/parse-faults.js';
import { parseRateLimit } from '../../emulator/faults/rate-limit.js';
import { imagesBaseProblem, parseUploadTarget } from '../../batch/formats.js';
import { checkEndpointId } from '../../../src/contract/request-parts.js';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { inUnits, parseDuration, parseHost, parseNotifyUrl } from './parse-value.js';

/** The value of an option's text, or a problem that names the given and the allowed values. */
type Parsed<T> = { value: T } | { problem: string };

/** Schemas for texts of the command line whose option is given once. */
export const singleValue = {
  text: () => z.string(),
  /** A text that is not empty. */
  named: (what: string) => z.string().min(1, `is empty: name a ${what}`),
  listOf: <T>(each: z.ZodType<T, string>) => z.array(each),
  /** A duration with its unit, in ms. */
  duration: (minMs: number, maxMs: number) =>
    text((given): Parsed<number> => {
      const parsed = parseDuration(given);
      if ('problem' in parsed) return parsed;
      if (parsed.ms >= minMs && parsed.ms <= maxMs) return { value: parsed.ms };
      return {
        problem: `"${given}" is out of bounds: from ${inUnits(minMs)} to ${inUnits(maxMs)} is allowed`,
      };
    }),
  wholeNumber: (min: number, max: number) =>
    text((given): Parsed<number> => {
      const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
      if (value >= min && value <= max) return { value };
      const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
      return { problem: `"${given}" is not allowed: a whole number ${range} is` };
    }),
  /** Dollars, with or without a leading `$`. */
  usd: () =>
    text((given): Parsed<number> => {
      const value = /^\$?\d+(\.\d{1,6})?$/.test(given) ? Number(given.replace('$', '')) : Number.NaN;
      if (Number.isFinite(value)) return { value };
      return { problem: `"${given}" is not an amount: write dollars such as 25 or 0.5` };
    }),
  /** Requests a second; a fraction is allowed. */
  rate: () =>
    text((given): Parsed<number> => {
      const value = /^\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN;
      if (value > 0 && value <= 100_000) return { value };
      return {
        problem: `"${given}" is not allowed: a number of requests a second above 0 is, such as 20 or 0.5`,
      };
    }),
  /** A fixed word, or a value of another shape. */
  wordOr: <const W extends string, T>(word: W, other: z.ZodType<T, string>) =>
    z.string().transform((given, context): T | W => {
      const parsed = other.safeParse(given);
      if (given === word) return word;
      if (parsed.success) return parsed.data;
      return refuse(context, `${parsed.error.issues[0]?.message ?? given}, or ${word}`);
    }),
  oneOf: <const T extends string>(...allowed: readonly T[]) =>
    text((given): Parsed<T> => {
      const value = allowed.find((one) => one === given);
      return value === undefined ? { problem: `"${given}" is not one of ${allowed.join(', ')}` } : { value };
    }),
  /** The separator itself, or its name. */
  delimiter: () =>
    text((given): Parsed<string> => {
      const value = { comma: ',', semicolon: ';', tab: '\t', '\\t': '\t', bar: '|' }[given] ?? given;
      if ([',', ';', '\t', '|'].includes(value)) return { value };
      return { problem: `"${given}" is not one of comma, semicolon, tab, bar` };
    }),
  /** `P%`; `%` may be left out. */
  percent: () =>
    text((given): Parsed<number> => {
      const [, digits] = /^(\d+(?:\.\d+)?)%?$/.exec(given) ?? [];
      if (digits !== undefined) return { value: Number(digits) };
      return { problem: `"${given}" is not a share: write per cent such as 10%` };
    }),
  /** `N` or `P%`. */
  halt: () =>
    text((given): Parsed<{ count: number } | { percent: number }> => {
      const [, digits, percent] = /^(\d+(?:\.\d+)?)(%)?$/.exec(given) ?? [];
      const value = Number(digits);
      if (percent !== undefined && value > 0 && value <= 100) return { value: { percent: value } };
      if (percent === undefined && Number.isInteger(value) && value > 0) return { value: { count: value } };
      return {
        problem: `"${given}" is not allowed: a number of rows such as 50, or a share such as 10%, is`,
      };
    }),
  /** A share of a cap, or dollars. */
  warnAt: () =>
    text((given): Parsed<{ percent: number } | { usd: number }> => {
      const [, digits, percent] = /^(?:\$?(?=[^%]+$))?(\d+(?:\.\d{1,6})?)(%)?$/.exec(given) ?? [];
      const value = Number(digits);
      if (percent !== undefined && value > 0 && value <= 100) return { value: { percent: value } };
      if (percent === undefined && value > 0) return { value: { usd: value } };
      return {
        problem: `"${given}" is not allowed: a share of the cap up to 100% such as 80%, or dollars such as 20, is`,
      };
    }),
  jobId: () =>
    z
      .string()
      .regex(/^[\u0021-\u007e]+$/, 'is not a job id: it is empty, or holds a space or a control character'),
  uploadTarget: () => parsedBy(parseUploadTarget),
  latency: () => parsedBy(parseLatency),
  faults: () => parsedBy(parseFaults),
  rateLimit: () => parsedBy(parseRateLimit),
  imagesBase: () => checkedBy(imagesBaseProblem),
  endpoint: () => checkedBy(checkEndpointId),
  /** The address of a notification. */
  notifyUrl: () => text(parseNotifyUrl),
  /** {base_url} or {lb_base_url}, without a trailing slash. */
  host: () => text(parseHost),
  /** Host and port of this machine; port 0 chooses a free one. */
  address: () =>
    text((given): Parsed<{ host: string; port: number }> => {
      const [, host = '', port = ''] = /^(\[[\da-f:.]+\]|[\w.-]+):(\d{1,5})$/i.exec(given) ?? [];
      if (host !== '' && Number(port) <= 65_535)
        return { value: { host: host.replace(/^\[|\]$/g, ''), port: Number(port) } };
      return {
        problem: `"${given}" is not an address to listen at: write it as 127.0.0.1:8787 or [::1]:8787`,
      };
    }),
  /** `embedded`, or the address of a database. No message repeats the address, because it may contain a password. */
  database: () =>
    text((given): Parsed<string> => {
      if (given === 'embedded' || /^postgres(ql)?:\/\//.test(given)) return { value: given };
      return { problem: 'this is not a database: write embedded, or postgres://user@host:5432/database' };
    }),
};

function text<T>(parse: (given: string) => Parsed<T>) {
  return z.string().transform((given, context): T => {
    const parsed = parse(given);
    if ('value' in parsed) return parsed.value;
    return refuse(context, parsed.problem);
  });
}

/** The text as given, unless the check finds a problem with it. */
function checkedBy(check: (given: string) => string | undefined) {
  return text((given): Parsed<string> => {
    const problem = check(given);
    return problem === undefined ? { value: given } : { problem: `"${given}" ${problem}` };
  });
}

/** The parsed text, or the message of the `MillraceError` that the parser throws. */
function parsedBy<T>(parse: (given: string) => T) {
  return text((given): Parsed<T> => {
    try {
      return { value: parse(given) };
    } catch (error) {
      if (isMillraceError(error)) return { problem: error.message };
      throw error;
    }
  });
}

/** Adds a problem, so that the value is refused. */
export function refuse<T>(context: z.RefinementCtx, message: string): T {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}
