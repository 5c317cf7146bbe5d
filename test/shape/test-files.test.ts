import { describe, expect, it } from 'vitest';
import { partOf } from '../../.config/test-files.js';

const [short, long] = ['test/src/policy/retry-delay.test.ts', 'test/simulate/crash-points.test.ts'];
const [shortAlone, longAlone] = [
  'test/src/transport/got-download.test.ts',
  'test/runners/batch/run/flat-memory.test.ts',
];
const files = [short, long, shortAlone, longAlone];

describe('partOf', () => {
  it('runs a long test that is named together with others', () => {
    expect(partOf('short', [short, long, longAlone], files)).toEqual({
      together: [short, long],
      left: [],
      alone: [shortAlone, longAlone],
      leftOut: [],
    });
  });

  it('knows a file by a part of its path, with ./ before it, and with a line number behind it', () => {
    for (const filter of ['crash-points.test.ts', `./${long}`, `${long}:12`, `${process.cwd()}/${long}`])
      expect(partOf('short', [filter], files).together).toEqual([short, long]);
  });

  it('names the long tests of a folder, which it leaves out', () => {
    expect(partOf('short', ['test/simulate', 'test/runners/batch/'], files).leftOut).toEqual([
      long,
      longAlone,
    ]);
    expect(partOf('all', ['test/simulate'], files).leftOut).toEqual([]);
    expect(partOf('short', [], files).leftOut).toEqual([]);
  });

  it('names the short tests that the long part leaves out, unless they are named', () => {
    expect(partOf('long', ['test/src'], files).leftOut).toEqual([short, shortAlone]);
    expect(partOf('long', [short], files).together).toEqual([long, short]);
  });

  it('refuses a part that does not exist', () => {
    expect(() => partOf('sort', [], files)).toThrow(
      'MILLRACE_TESTS is sort, and not one of short, long, all',
    );
  });
});
