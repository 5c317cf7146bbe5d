import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readApiKey } from '../../../../runners/cli/service/service-settings.js';

describe('readApiKey', () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'millrace-key-'));
  });
  afterEach(() => rm(cwd, { recursive: true }));

  it('takes the variable', async () => {
    expect(await readApiKey(undefined, { cwd, env: { MILLRACE_API_KEY: 'k-123' } })).toEqual({
      key: 'k-123',
    });
  });

  it.each([{}, { MILLRACE_API_KEY: '' }, { MILLRACE_API_KEY: ' \n' }])(
    'names the variable when it is missing',
    async (env) => {
      await expect(readApiKey(undefined, { cwd, env })).rejects.toThrow('MILLRACE_API_KEY is not set');
    },
  );

  it('prefers the file, without its final newline', async () => {
    await writeFile(join(cwd, 'key'), 'from-file\n', { mode: 0o600 });
    expect(await readApiKey('key', { cwd, env: { MILLRACE_API_KEY: 'other' } })).toEqual({
      key: 'from-file',
    });
  });

  it.each([0o640, 0o604])('warns of a file that others can read (%i)', async (mode) => {
    await writeFile(join(cwd, 'key'), 'from-file');
    await chmod(join(cwd, 'key'), mode);
    const { warning } = await readApiKey('key', { cwd, env: {} });
    expect(warning).toBe('warning: the key file "key" can be read by others: chmod 600 "key"');
  });

  it('does not warn of a credential of a systemd service, which its user reads by an access list', async () => {
    await writeFile(join(cwd, 'key'), 'from-file');
    await chmod(join(cwd, 'key'), 0o440);
    const env = (CREDENTIALS_DIRECTORY: string) => ({ cwd, env: { CREDENTIALS_DIRECTORY } });
    expect(await readApiKey(join(cwd, 'key'), env(cwd))).toEqual({ key: 'from-file' });
    expect(await readApiKey('key', env(join(cwd, 'other')))).toHaveProperty('warning');
    expect(await readApiKey('key', env(''))).toHaveProperty('warning');
  });

  it.each([
    ['an empty file', '\n', 'is empty'],
    ['several lines', 'one\ntwo', 'holds no key'],
    ['a letter beyond ASCII', 'clé', 'holds no key'],
  ])('refuses %s without quoting it', async (_, content, why) => {
    await writeFile(join(cwd, 'key'), content, { mode: 0o600 });
    const failure = await readApiKey('key', { cwd, env: {} }).catch((error: unknown) => error as Error);
    expect(failure).toHaveProperty('message', expect.stringContaining(why));
    expect((failure as Error).message).not.toMatch(/one|clé/);
  });

  it('names a file that is not there', async () => {
    await expect(readApiKey('nokey', { cwd, env: {} })).rejects.toThrow(
      '--api-key-file: "nokey" cannot be read (ENOENT)',
    );
  });
});
