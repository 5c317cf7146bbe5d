import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';

/** A Node.js to run with: what `node` and `npm` mean in its environment. */
export interface OtherNode {
  readonly version: string;
  readonly binary: string;
  readonly env: NodeJS.ProcessEnv;
}

/** @param major Of the Node.js to be had from npm, kept between runs; without it the one that runs. */
export function findNode(major: string | undefined): OtherNode {
  const binary = major === undefined ? process.execPath : install(major);
  const version = execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim();
  const env = { ...process.env, PATH: `${dirname(binary)}${delimiter}${process.env['PATH'] ?? ''}` };
  return { version, binary, env };
}

function install(major: string): string {
  const folder = resolve(`node_modules/.cache/node-${major}`);
  const name = `node-${process.platform}-${process.arch}`;
  const binary = `${folder}/node_modules/${name}/bin/node`;
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  const quiet = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', '--prefix', folder, ...quiet, `${name}@${major}`], { stdio: 'inherit' });
  return binary;
}
