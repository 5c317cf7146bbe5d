import { describe, expect, it } from 'vitest';
import { checkApiKey } from '../../../src/contract/api-key.js';

describe('checkApiKey', () => {
  it.each(['rpa_ABC123', 'k', '~!@#'])('takes %s', (key) => {
    expect(checkApiKey(key)).toBeUndefined();
  });

  it.each(['', ' ', 'a b', 'a\n', 'ключ', 'a\u0000'])('refuses %j and does not quote it', (key) => {
    expect(checkApiKey(key)).toMatch(
      /^(is empty|contains white space or a character that no header may carry)$/,
    );
  });
});
