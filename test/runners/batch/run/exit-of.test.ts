import { describe, expect, it } from 'vitest';
import { InvalidOptionError, MillraceError } from '../../../../src/contract/millrace-error.js';
import { DiskFault } from '../../../../runners/batch/disk/disk-fault.js';
import { JournalError } from '../../../../runners/batch/journal/journal-error.js';
import { LockError } from '../../../../runners/batch/lock/owner.js';
import { ManifestError } from '../../../../runners/batch/manifest/manifest-error.js';
import { exitOf } from '../../../../runners/batch/stop/exit-of.js';

describe('exitOf', () => {
  it.each([
    [new ManifestError('a.csv', 'is broken', { line: 3 }), 2],
    [new InvalidOptionError('retry', 'is wrong'), 2],
    [new MillraceError('usage', 'not so'), 2],
    [new LockError('held', 'by process 7'), 75],
    [new LockError('lock-io', 'no'), 74],
    [new JournalError('journal-broken', 'line 7'), 74],
    [new DiskFault('/out/costs.csv', 'ENOSPC', new Error('no space')), 74],
    [Object.assign(new Error('ENOTDIR: not a directory'), { code: 'ENOTDIR' }), 74],
    [Object.assign(new Error('ELOOP: too many symbolic links'), { code: 'ELOOP' }), 74],
    [Object.assign(new Error('ESTALE: stale file handle'), { code: 'ESTALE' }), 74],
    [Object.assign(new Error('Unknown system error -116, write'), { code: 'Unknown system error -116' }), 74],
    [Object.assign(new Error('ECONNRESET'), { code: 'ECONNRESET' }), 70],
    [new TypeError('x is not a function'), 70],
    ['text', 70],
  ])('%s: %i', (error, exitCode) => {
    expect(exitOf(error)).toMatchObject({
      exitCode,
      reason: expect.stringContaining(error instanceof Error ? error.message : error) as string,
    });
  });
});
