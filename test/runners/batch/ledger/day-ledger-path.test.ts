import { describe, expect, it } from 'vitest';
import { dayLedgerPath } from '../../../../runners/batch/ledger/day-ledger.js';

describe('dayLedgerPath', () => {
  it.each([
    ['linux', {}, '/home/ada/.local/state/millrace/ledger.jsonl'],
    ['linux', { XDG_STATE_HOME: '/state' }, '/state/millrace/ledger.jsonl'],
    ['linux', { XDG_STATE_HOME: '' }, '/home/ada/.local/state/millrace/ledger.jsonl'],
    ['linux', { XDG_STATE_HOME: 'state' }, '/home/ada/.local/state/millrace/ledger.jsonl'],
    ['darwin', {}, '/home/ada/Library/Application Support/millrace/ledger.jsonl'],
    ['win32', { LOCALAPPDATA: 'C:/local' }, 'C:/local/millrace/ledger.jsonl'],
    ['win32', {}, '/home/ada/AppData/Local/millrace/ledger.jsonl'],
  ])('on %s with %j is %s', (platform, env, path) =>
    expect(dayLedgerPath(env, platform, '/home/ada')).toBe(path),
  );
});
