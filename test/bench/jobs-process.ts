// Jobs by the library alone, as its package has it; prints their CPU in ms, without that of its own start.
// node .config/run-ts.mjs test/bench/jobs-process.ts URL JOBS IN_FLIGHT got|undici
import { lastValueFrom } from 'rxjs';
import type * as library from '../../src/index.js';
import type * as overUndici from '../../src/undici.js';
import { cpuOf } from './figure.js';

const [, , baseUrl = '', jobs = '', concurrency = '', http = 'got'] = process.argv;
const dist = `file://${process.cwd()}/dist/src`;
const { createClient, pullJobs } = (await import(`${dist}/index.js`)) as typeof library;
const { createUndiciTransport } = (await import(`${dist}/undici.js`)) as typeof overUndici;
const transport = http === 'undici' ? { transport: createUndiciTransport() } : {};
const endpoint = createClient({ apiKey: 'a-key-for-the-bench', baseUrl, ...transport }).queue('bench');
const rows = Array.from({ length: Number(jobs) }, (_, n) => n);
const spent = await cpuOf(() =>
  lastValueFrom(pullJobs(rows, (n) => endpoint.run({ n }), { concurrency: Number(concurrency) })),
);
process.stdout.write(JSON.stringify(spent / 1_000));
