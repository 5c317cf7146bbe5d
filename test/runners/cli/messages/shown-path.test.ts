import { describe, expect, it } from 'vitest';
import { shownPath } from '../../../../runners/cli/messages/plain-text.js';

describe('shownPath', () => {
  it.each([
    ['/job/edits.out', '/job', 'edits.out'],
    ['/job', '/job', '.'],
    ['/job/-my edits.out', '/job', './-my edits.out'],
    ['/tmp/-out', '/job', '/tmp/-out'],
    ['/tmp/out', '/job', '/tmp/out'],
    ['/job/a\u001b[2Jb', '/job', 'ab'],
  ])('%j seen from %s is %j', (path, cwd, shown) => {
    expect(shownPath(path, cwd)).toBe(shown);
  });
});
