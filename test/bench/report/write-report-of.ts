// Writes the report of a folder and tells time and memory; a process of its own, so that nothing else counts.
import { writeReport } from '../../../runners/report/write-report.js';
import { pageParts } from '../../support/page-parts.js';

const parts = await pageParts();
const begin = performance.now();
await writeReport(process.argv[2] ?? '', { parts });
const writeMs = Math.round(performance.now() - begin);
process.stdout.write(
  JSON.stringify({
    writeMs,
    cpuMs: Math.round(process.cpuUsage().user / 1000),
    peakMb: Math.round(process.resourceUsage().maxRSS / 1024),
  }),
);
