import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import type { CliIo } from '../../../../runners/cli/io/cli-io.js';
import { UsageError } from '../../../../runners/cli/io/usage-error.js';
import { explainError } from '../../../../runners/cli/io/explain-error.js';
import { MillraceError } from '../../../../src/contract/millrace-error.js';

const key = 'canary-4f1e77';

function listener() {
  const stderr = new PassThrough({ encoding: 'utf8' });
  return { io: { stderr } as unknown as CliIo, printed: () => String(stderr.read() ?? '') };
}

describe('explainError', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-fault-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('says what is wrong with a command, a line each, and what to do', async () => {
    const { io, printed } = listener();
    expect(await explainError(new UsageError(['--a: x', '--b: y'], 'do this'), io, { secrets: [] })).toBe(2);
    expect(printed()).toBe('error: --a: x\nerror: --b: y\n  do this\n');
  });

  it('takes a manifest that cannot be read for a wrong command', async () => {
    const { io, printed } = listener();
    const error = new MillraceError('manifest', 'edits.csv, line 3: the quote is not closed');
    expect(await explainError(error, io, { secrets: [] })).toBe(2);
    expect(printed()).toBe('error: edits.csv, line 3: the quote is not closed\n');
  });

  it('takes a file that cannot be written for no fault of its own', async () => {
    const { io, printed } = listener();
    const error = Object.assign(new Error('EACCES: permission denied, open'), {
      code: 'EACCES',
      path: '/runs/out/report.html.tmp',
    });
    expect(await explainError(error, io, { secrets: [] })).toBe(74);
    expect(printed()).toMatch(
      /^error: \/runs\/out\/report\.html\.tmp: this user has no right to it \(EACCES\)\. .*\n$/,
    );
  });

  it.runIf(existsSync('/dev/full'))(
    'takes a full disk for no fault of its own, also where a write fails',
    async () => {
      const file = await nodeDisk.open('/dev/full', 'r+');
      const error: unknown = await file.write(Buffer.from('x'), 0).catch((reason: unknown) => reason);
      await file.close();
      const { io, printed } = listener();
      expect(await explainError(error, io, { secrets: [] })).toBe(74);
      expect(printed()).toBe(
        'error: /dev/full: no space is left on the disk (ENOSPC). Free some space and run the same command again.\n',
      );
    },
  );

  it('keeps the details of a fault in the log of the run, without the key', async () => {
    const { io, printed } = listener();
    const error = Object.assign(new Error(`boom at Bearer ${key}`), {
      options: { headers: { authorization: `Bearer ${key}` } },
    });
    expect(await explainError(error, io, { folder, secrets: [key] })).toBe(70);
    const text = printed();
    expect(text).toContain('this is a fault of millrace itself: Error: boom at');
    expect(text).toContain(join(folder, 'run.log'));
    expect(text).not.toContain('    at ');
    const log = await readFile(join(folder, 'run.log'), 'utf8');
    expect(JSON.parse(log)).toMatchObject({
      level: 60,
      details: expect.stringContaining('explain-error.test'),
    });
    expect(text + log).not.toContain(key);
  });

  it('finds another place where there is no run', async () => {
    const { io, printed } = listener();
    expect(await explainError('a string', io, { folder: join(folder, 'missing'), secrets: [] })).toBe(70);
    const path = /details are in (.+)/.exec(printed())?.[1] ?? '';
    expect(await readFile(path, 'utf8')).toContain('a string');
    await rm(path);
  });
});
