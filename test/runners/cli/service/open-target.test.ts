import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Plan } from '../../../../runners/batch/manifest/plan-manifest.js';
import { requireHosts } from '../../../../runners/cli/service/open-target.js';
import type { Target } from '../../../../runners/cli/service/service-settings.js';
import { startMillrace } from '../../../support/millrace.js';
import { planWith } from '../../../support/whole-values.js';
import { openWorkplace } from '../../../support/workplace.js';

const of = (byKind: Partial<Plan['byKind']>) =>
  planWith({ byKind: { edit: 0, job: 0, route: 0, ...byKind } });
const target = (parts: Partial<Target>): Target => ({
  apiKey: 'k',
  local: true,
  baseUrl: 'http://q',
  lbBaseUrl: 'http://r',
  close: () => Promise.resolve(),
  ...parts,
});

it('asks before anything starts for what edits of a rehearsal need, and not where there are none', () => {
  const bare = target({ editsNeed: 'image edits need the package sharp: npm i sharp' });
  expect(() => requireHosts(of({ edit: 1 }), bare)).toThrow(
    'image edits need the package sharp: npm i sharp',
  );
  expect(() => requireHosts(of({ job: 3, route: 1 }), bare)).not.toThrow();
  expect(() => requireHosts(of({ edit: 1 }), target({}))).not.toThrow();
});

it('asks for the host that rows of a kind are sent to', () => {
  const nowhere: Target = { apiKey: 'k', local: false, close: () => Promise.resolve() };
  expect(() => requireHosts(of({ job: 1 }), { ...nowhere, lbBaseUrl: 'http://r' })).toThrow('--base-url');
  expect(() => requireHosts(of({ route: 1 }), { ...nowhere, baseUrl: 'http://q' })).toThrow('--lb-base-url');
  expect(() => requireHosts(of({ job: 1 }), { ...nowhere, baseUrl: 'http://q' })).not.toThrow();
});

it('names the package of --http undici where it is not installed', async () => {
  const work = await openWorkplace();
  try {
    await work.write('without-undici.cjs', [
      'const loader = require("node:module");',
      'const resolve = loader._resolveFilename;',
      'loader._resolveFilename = function (name, ...more) {',
      '  return resolve.call(this, name === "undici" ? "./no-such-package" : name, ...more);',
      '};',
    ]);
    await work.write('jobs.jsonl', ['{"endpoint":"echo","input":{}}']);
    const env = { NODE_OPTIONS: `--require ${join(work.folder, 'without-undici.cjs')}` };
    const args = ['run', 'jobs.jsonl', '--local', '--http', 'undici'];
    const { code, stderr } = await startMillrace(args, { cwd: work.folder, env }).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining('npm i undici')]);
  } finally {
    await work.remove();
  }
});
