import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

/** A JavaScript runtime that is not Node.js, from npm and kept between runs. */
export interface Runtime {
  /** The command and its arguments before the program. */
  readonly command: readonly string[];
  readonly version: string;
}

const runtimes = {
  bun: { package: 'bun@^1.4.5', binary: 'node_modules/bun/bin/bun.exe', args: ['run'] },
  deno: {
    package: 'deno@^2.9.6',
    binary: 'node_modules/deno/deno',
    args: ['run', '--allow-all', '--no-remote', '--node-modules-dir=manual'],
  },
} as const;

/** @returns why it cannot be had here, or the runtime */
export function findRuntime(name: keyof typeof runtimes): Runtime | string {
  const { package: packageName, binary, args } = runtimes[name];
  const folder = resolve(`node_modules/.cache/${name}`);
  const path = `${folder}/${binary}`;
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    const quiet = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
    const install = spawnSync('npm', ['install', '--prefix', folder, ...quiet, packageName], {
      encoding: 'utf8',
    });
    if (install.status !== 0)
      return `npm has no ${packageName} here: ${install.stderr.trim().split('\n').at(-1) ?? ''}`;
  }
  const { status, stdout, error } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  if (status !== 0) return `${name} does not run here: ${error?.message ?? `exit ${status}`}`;
  return { command: [path, ...args], version: stdout.trim().split('\n')[0] ?? '' };
}
