import { tmpdir } from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { usualFolders } from '../../../../runners/batch/lock/owner.js';

afterEach(() => void vi.unstubAllEnvs());

it('notes runs in the folder for temporary files for a user without a name and a home, unless another place is named', () => {
  const noHome = (): never => {
    throw new Error('uv_os_homedir returned ENOENT');
  };
  vi.stubEnv('XDG_STATE_HOME', '');
  for (const folder of usualFolders(noHome)) expect(folder.startsWith(`${tmpdir()}/millrace-`)).toBe(true);
  vi.stubEnv('XDG_STATE_HOME', '/state');
  expect(usualFolders(noHome)[0]).toBe('/state/millrace');
});
