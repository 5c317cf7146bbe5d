// Buys 200 jobs with millrace/core over fetch in whatever runs this, and prints what became of them.
import { lastValueFrom, toArray } from 'rxjs';
import { createClient, pullJobs } from '../../dist/src/core.js';
import { createFetchTransport } from '../../dist/src/fetch.js';

const [baseUrl, apiKey] = process.argv.slice(-2);
const client = createClient({ baseUrl, apiKey, transport: createFetchTransport() });
const endpoint = client.queue('echo');
const rows = Array.from({ length: 200 }, (_, row) => ({ row }));
const outcomes = await lastValueFrom(
  pullJobs(rows, (row) => endpoint.run(row), { concurrency: 16 }).pipe(toArray()),
);
const right = outcomes.filter(
  ({ row, outcome }) => outcome.status === 'completed' && outcome.output.echo.row === row.row,
);
await client.close();
console.log(JSON.stringify({ rows: outcomes.length, right: right.length }));
