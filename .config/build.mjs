// Compiles src and runners to dist, then copies what is not TypeScript and marks the command as executable.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', '.config/tsconfig.build.json'], {
  stdio: 'inherit',
});
for (const folder of ['runners/report/page']) {
  if (existsSync(folder)) cpSync(folder, `dist/${folder}`, { recursive: true, filter: (path) => !path.endsWith('.ts') });
}
if (existsSync('dist/runners/cli/main.js')) chmodSync('dist/runners/cli/main.js', 0o755);
