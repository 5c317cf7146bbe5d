import { describe, expect, it } from 'vitest';
import { failureCodes, type FailureCode } from '../../../../src/contract/failure-code.js';
import { RowStates } from '../../../../runners/batch/journal/rows/row-states.js';
import type { RowStatus } from '../../../../runners/batch/row/row-status.js';
import {
  decideRow,
  hasChanged,
  type ManifestRules,
  retryCodes,
} from '../../../../runners/batch/row/decide-row.js';
import { rowWith } from '../../../support/whole-values.js';

const rules = (
  words: string[] = ['download', 'deadline'],
  more: Partial<ManifestRules> = {},
): ManifestRules => ({
  retry: retryCodes(words),
  changed: 'keep',
  mustHold: () => false,
  ...more,
});

function state(status: RowStatus, hash = 'aaaaaaaa') {
  const states = new RowStates();
  states.set('a', { status, hash });
  return states.get('a');
}

const rowCodes = (Object.keys(failureCodes) as FailureCode[]).filter(
  (code) => failureCodes[code].scope === 'row',
);

describe('decideRow', () => {
  it('sends a row that nobody knows, and one that was refused or given back', () => {
    expect(decideRow(rowWith(), undefined, rules())).toEqual({ what: 'send' });
    expect(decideRow(rowWith(), state('open'), rules())).toEqual({ what: 'send' });
  });

  it('sends a GET whose answer may be lost, here or in another run: it can be repeated for free', () => {
    const request = { kind: 'route', method: 'GET', route: 'g' } as const;
    const lost = rules(undefined, { mustHold: () => true });
    expect(decideRow(rowWith({ request }), undefined, lost)).toEqual({ what: 'send' });
    const prior = { code: 'unknown', paid: 'maybe' } as const;
    expect(decideRow(rowWith({ request, prior }), undefined, lost)).toEqual({ what: 'send' });
    expect(decideRow(rowWith(), undefined, lost)).toEqual({ what: 'hold', code: 'unknown' });
  });

  it('sends a row that failed in another run once it was opened here: a person has decided that it never arrived', () => {
    const row = rowWith({ prior: { code: 'unknown', paid: 'maybe' } });
    expect(decideRow(row, undefined, rules())).toEqual({ what: 'hold', code: 'unknown' });
    expect(decideRow(row, state('open'), rules())).toEqual({ what: 'send' });
    const sent = new RowStates();
    sent.set('a', { status: 'open', attempts: 1 });
    expect(decideRow(row, sent.get('a'), rules())).toEqual({ what: 'hold', code: 'unknown' });
  });

  it.each(['sent', 'accepted', 'replied'] as const)('leaves what is %s to the journal', (status) => {
    expect(decideRow(rowWith(), state(status), rules(['all']))).toBeUndefined();
  });

  it.each(rowCodes.filter((code) => code !== 'invalid-row'))('leaves %s alone unasked', (code) => {
    expect(decideRow(rowWith(), state(code), rules())).toBeUndefined();
  });

  it.each(rowCodes.filter((code) => !['deadline', 'download'].includes(code)))(
    'sends %s again when it is asked for',
    (code) => {
      expect(decideRow(rowWith(), state(code), rules([code]))).toEqual({ what: 'send', reopen: 'retry' });
    },
  );

  it.each(['deadline', 'download'] as const)('never sends %s again: it is polled or fetched', (code) => {
    expect(decideRow(rowWith(), state(code), rules(['all']))).toBeUndefined();
  });

  it('keeps a completed row, says whether it has changed, and redoes it on request', () => {
    expect(decideRow(rowWith(), state('completed'), rules(['all']))).toBeUndefined();
    expect(hasChanged(rowWith(), state('completed'), rules(['all']))).toBe(false);
    const changed = state('completed', 'bbbbbbbb');
    expect(decideRow(rowWith(), changed, rules())).toBeUndefined();
    expect(hasChanged(rowWith(), changed, rules())).toBe(true);
    expect(decideRow(rowWith(), changed, rules([], { changed: 'redo' }))).toEqual({
      what: 'send',
      reopen: 'redo',
    });
    expect(decideRow(rowWith(), state('completed'), rules([], { changed: 'redo' }))).toBeUndefined();
  });

  it('never buys a row that collects a job, though it has changed', () => {
    const collected = rowWith({ jobId: 'j1' });
    const changed = state('completed', 'bbbbbbbb');
    expect(decideRow(collected, changed, rules(['all'], { changed: 'redo' }))).toBeUndefined();
  });

  it('checks an invalid row again without being asked', () => {
    expect(decideRow(rowWith(), state('invalid-row'), rules())).toEqual({ what: 'send', reopen: 'retry' });
  });

  it('collects a known job, and fetches a picture that is paid', () => {
    expect(decideRow(rowWith({ jobId: 'j1' }), undefined, rules())).toEqual({ what: 'poll', jobId: 'j1' });
    const prior = { code: 'download', paid: 'yes', imageUrl: 'https://e.test/a.png' } as const;
    expect(decideRow(rowWith({ prior }), undefined, rules())).toEqual({
      what: 'fetch',
      imageUrl: prior.imageUrl,
    });
  });

  it.each([
    ['job-failed', 'no', [], 'send'],
    ['unknown', 'maybe', [], 'hold'],
    ['unknown', 'maybe', ['unknown'], 'send'],
    ['expired', 'maybe', ['failed'], 'hold'],
    ['expired', 'maybe', ['expired'], 'send'],
    ['deadline', 'maybe', ['all'], 'hold'],
    ['download', 'yes', ['all'], 'hold'],
    ['output-mismatch', 'yes', ['failed'], 'hold'],
  ] as const)('a failure read back: %s, paid %s, with --retry %j: %s', (code, paid, words, what) => {
    expect(decideRow(rowWith({ prior: { code, paid } }), undefined, rules([...words]))?.what).toBe(what);
  });

  it('holds what may have been bought by a record that is lost, unless it is told otherwise', () => {
    const mustHold = (): boolean => true;
    expect(decideRow(rowWith(), undefined, rules([], { mustHold }))).toEqual({
      what: 'hold',
      code: 'unknown',
    });
    expect(decideRow(rowWith(), undefined, rules(['unknown'], { mustHold }))).toEqual({ what: 'send' });
    const changed = state('job-failed', 'bbbbbbbb');
    expect(decideRow(rowWith(), changed, rules(['failed'], { mustHold }))).toBeUndefined();
    expect(hasChanged(rowWith(), changed, rules(['failed'], { mustHold }))).toBe(false);
    expect(hasChanged(rowWith(), changed, rules())).toBe(true);
  });
});

describe('retryCodes', () => {
  it('knows classes and codes', () => {
    const free = ['download', 'deadline'];
    const unpaid = rowCodes.filter((code) => failureCodes[code].paid === 'no');
    expect(retryCodes(['failed'])).toEqual(new Set([...free, ...unpaid]));
    expect(retryCodes(['all'])).toEqual(new Set(rowCodes));
    expect(retryCodes(['expired', 'unknown'])).toEqual(new Set([...free, 'expired', 'unknown']));
    expect(retryCodes([])).toEqual(new Set(free));
  });

  it.each(['never', 'over-budget', ''])('refuses %j', (word) => {
    expect(() => retryCodes([word])).toThrow(/not a failure code/);
  });
});
