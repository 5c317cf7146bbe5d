import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeFault } from '../../../../runners/batch/stop/exit-of.js';
import { millrace } from '../../../support/millrace.js';

it('takes what is no error for its own description', () => {
  expect(describeFault('no disk')).toEqual({ message: 'no disk' });
});

it('names an error by its class in the log of the built command line, whose names are short', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-fault-'));
  try {
    await writeFile(join(folder, 'rows.jsonl'), '{"id":"a","input":{"n":1}}\n');
    await mkdir(join(folder, 'out', 'poll-law.json'), { recursive: true });
    const args = ['run', 'rows.jsonl', '--local', '--endpoint', 'echo', '--out', 'out'];
    const { code } = await millrace(args, { cwd: folder });
    expect(code).toBe(0);
    const log = await readFile(join(folder, 'out', 'run.log'), 'utf8');
    expect(log).toMatch(/"stack":"MillraceError: [^"]*poll-law\.json is a folder/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
