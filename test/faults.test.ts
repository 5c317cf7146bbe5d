import { describe, expect, it } from 'vitest';
import { faultPage, faultTests, listedFaults, withTests } from './list-faults.js';

const page = faultPage();
const tests = faultTests();

describe('the list of faults', () => {
  it('numbers them from 1 to 32, with those that a letter sets apart', () => {
    const wanted = Array.from({ length: 32 }, (_, at) => String(at + 1));
    expect(listedFaults(page).filter((fault) => /^\d+$/.test(fault))).toEqual(wanted);
    expect(listedFaults(page).filter((fault) => !/^\d+[a-z]?$/.test(fault))).toEqual([]);
  });

  it.each(listedFaults(page))('fault %s: a test shows it', (fault) => {
    expect(tests.filter((test) => test.fault === fault)).not.toEqual([]);
  });

  it('has a heading for each fault that a test names', () => {
    const listed = new Set(listedFaults(page));
    expect(tests.filter(({ fault }) => !listed.has(fault))).toEqual([]);
  });

  it('is written below a sentence of two lines too', () => {
    const page = '### 8. A heading\n\nA sentence that\ngoes on.\n\n- `old.test.ts`\n  - `gone`\n';
    const test = { fault: '8', file: 'new.test.ts', title: 'shows it' };
    expect(withTests(page, [test])).toBe(page.replace('old', 'new').replace('gone', 'shows it'));
  });

  it('is up to date (`npm run list:faults` writes it)', () => {
    expect(page).toBe(withTests(page, tests));
  });
});
