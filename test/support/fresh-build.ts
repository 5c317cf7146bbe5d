import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What the build reads. */
const sources = [
  ...['src', 'runners', 'samples', 'tsconfig.json', 'package.json', 'package-lock.json'],
  ...['build.mjs', 'bundle-page.mjs', 'join-chunks.mjs', 'lean-modules.mjs', 'tsconfig.build.json'].map(
    (name) => `.config/${name}`,
  ),
];
const built = 'dist/runners/cli/main.js';

/** Builds where dist is older than the code: tests that start the command line would try an old one without a word. */
export default function freshBuild(): void {
  const builtAt = changedAt(built);
  const isFresh = sources.every((source) => newestIn(source) <= builtAt);
  if (isFresh) return;
  process.stderr.write('dist is older than the code: building it anew\n');
  const { status } = spawnSync(process.execPath, ['.config/build.mjs'], { stdio: 'inherit' });
  if (status === 0) return;
  process.stderr.write('the code does not compile: no test was run\n');
  process.exit(1);
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function newestIn(path: string): number {
  if (!statSync(path).isDirectory()) return changedAt(path);
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return Math.max(
    ...names.filter((name) => !name.includes('node_modules')).map((name) => changedAt(join(path, name))),
  );
}
