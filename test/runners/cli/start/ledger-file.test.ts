import { describe, expect, it } from 'vitest';
import { ledgerFile } from '../../../../runners/cli/start/batch-options.js';

const io = { cwd: '/job', env: { XDG_STATE_HOME: '/state' } };
const none = { ledger: undefined, maxCostPerDay: undefined, local: false };

describe('ledgerFile', () => {
  it('is none where nobody asks for one', () => expect(ledgerFile(none, io)).toBeUndefined());

  it('is the one that is named, also without a cap', () =>
    expect(ledgerFile({ ...none, ledger: 'day.jsonl' }, io)).toBe('/job/day.jsonl'));

  it.runIf(process.platform === 'linux')('lies in the state folder of the user, apart for rehearsals', () => {
    expect(ledgerFile({ ...none, maxCostPerDay: 5 }, io)).toBe('/state/millrace/ledger.jsonl');
    expect(ledgerFile({ ...none, maxCostPerDay: 0, local: true }, io)).toBe(
      '/state/millrace/ledger.local.jsonl',
    );
  });
});
