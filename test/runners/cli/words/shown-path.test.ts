import { describe, expect, it } from 'vitest';
import { shownPath } from '../../../../runners/cli/words/shown-path.js';

describe('shownPath', () => {
  it.each([
    ['/work/edits.out', '/work', 'edits.out'],
    ['/work', '/work', '.'],
    ['/tmp/out', '/work', '/tmp/out'],
    ['/work/a\u001b[2Jb', '/work', 'ab'],
  ])('%j seen from %s is %j', (path, cwd, shown) => {
    expect(shownPath(path, cwd)).toBe(shown);
  });
});
