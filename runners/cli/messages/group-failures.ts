import type { FailureCode } from '../../../src/contract/failure-code.js';
import { plainText } from './plain-text.js';

/** Causes beyond this many are counted together, so that memory stays flat. */
const maxGroups = 200;
const idsKept = 5;
const shortestId = 3;

/** Rows that failed for the same cause. */
export interface FailureGroup {
  readonly code: FailureCode;
  /** The message of the first of them; the last group of a long list has none. */
  readonly message: string | undefined;
  readonly count: number;
  /** The ids of the first of them. */
  readonly ids: readonly string[];
}

/** Groups failures by cause as they arrive. */
export interface FailureGroups {
  take(failure: { id: string; code: FailureCode; message: string | undefined }): void;
  /** The most frequent first. */
  list(): FailureGroup[];
}

/** Two failures have an equal cause when code and message agree but for ids, numbers, addresses and quoted values. */
export function groupFailures(): FailureGroups {
  const groups = new Map<
    string,
    { code: FailureCode; message: string | undefined; count: number; ids: string[] }
  >();
  return {
    take({ id, code, message }) {
      const plain = message === undefined ? undefined : plainText(message, 300);
      const cause = `${code} ${plain === undefined ? '' : causeOf(plain, id)}`;
      const key = groups.has(cause) || groups.size < maxGroups ? cause : `${code} other`;
      const group = groups.get(key) ?? {
        code,
        message: key === cause ? plain : undefined,
        count: 0,
        ids: [],
      };
      groups.set(key, group);
      group.count += 1;
      if (group.ids.length < idsKept) group.ids.push(id);
    },
    list: () => [...groups.values()].sort((one, other) => other.count - one.count),
  };
}

function causeOf(message: string, id: string): string {
  return withoutId(message, id)
    .replace(/https?:\/\/\S+/g, '#')
    .replace(/[\w-]*\d[\w-]*/g, '#');
}

/** Replaces the id only as a whole word of some length: an id such as "a" occurs in half of all messages. */
function withoutId(message: string, id: string): string {
  if (id.length < shortestId) return message;
  const word = new RegExp(`(?<![\\w-])${id.replace(/[^\w-]/g, '\\$&')}(?![\\w-])`, 'g');
  return message.replace(word, '#');
}
