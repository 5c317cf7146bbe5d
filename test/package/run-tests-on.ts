import { spawnSync } from 'node:child_process';
import { findNode } from './find-node.js';

// npm run test:nodes [22] [24] …: the whole suite under other versions of Node.js, one after the other.
const majors = process.argv.slice(2);
for (const major of majors.length > 0 ? majors : ['22', '24']) {
  const node = findNode(major);
  process.stdout.write(`node ${node.version}\n`);
  const tests = ['node_modules/vitest/vitest.mjs', 'run', '--config', '.config/vitest.config.ts'];
  const { status } = spawnSync(node.binary, tests, { env: node.env, stdio: 'inherit' });
  if (status !== 0) process.exitCode = status ?? 1;
}
