import { failureCodes, type FailureCode } from '../../../src/contract/failure-code.js';
import { InvalidOptionError } from '../../../src/contract/millrace-error.js';

/**
 * The failure codes that the words of `--retry` stand for: codes, `failed` (all that were not paid) and `all`.
 *
 * @throws {InvalidOptionError} for a word that is neither
 */
export function retryCodes(words: readonly string[]): ReadonlySet<FailureCode> {
  return new Set(words.flatMap(codesOf));
}

const rowCodes = (Object.keys(failureCodes) as FailureCode[]).filter(
  (code) => failureCodes[code].scope === 'row',
);

function codesOf(word: string): readonly FailureCode[] {
  if (word === 'all') return rowCodes;
  if (word === 'failed') return rowCodes.filter((code) => failureCodes[code].paid === 'no');
  const code = rowCodes.find((known) => known === word);
  if (code === undefined)
    throw new InvalidOptionError('retry', `"${word}" is no failure code, nor one of failed, all`);
  return [code];
}
