import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What the build reads. */
const sources = ['src', 'runners', 'samples', '.config/build.mjs', '.config/bundle-page.mjs', 'package.json'];
const built = 'dist/runners/cli/main.js';

/** Builds where dist is older than the code: tests that start the command line would try an old one without a word. */
export default function freshBuild(): void {
  const builtAt = changedAt(built);
  const isFresh = sources.every((source) => newestIn(source) <= builtAt);
  if (isFresh) return;
  process.stderr.write('dist is older than the code: building it anew\n');
  execFileSync(process.execPath, ['.config/build.mjs'], { stdio: 'inherit' });
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
