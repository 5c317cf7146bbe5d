import { rm } from 'node:fs/promises';
import { figure, ratios, type Figure } from '../figure.js';
import { measureCommand, type CommandCost } from '../measure-command.js';
import { startService } from '../service/start-service.js';

const env = { MILLRACE_API_KEY: 'a-key-for-the-bench' };
const inFlight = '50';
/** What a run may take beside its jobs: over undici the jobs themselves take less. */
const atMost = { got: 2, undici: 3 };

/**
 * CPU of a row in a whole run, with its journal, files, progress and report, against its job by the library alone, each in a
 * process of its own, in turn. The run counts from the start of its process to its end.
 */
export async function wholeRun(file: string, rows: number, out: string, rounds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const http of ['got', 'undici'] as const) {
    const service = await startService();
    const { baseUrl } = service;
    const jobs = ['.config/run-ts.mjs', 'test/bench/jobs-process.ts', baseUrl, String(rows), inFlight, http];
    const run = ['dist/runners/cli/main.js', 'run', file, '--base-url', baseUrl, '--yes', '--quiet'];
    const how = ['--concurrency', inFlight, '--http', http];
    const alone: number[] = [];
    const whole: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      alone.push(Number((await measured(jobs)).stdout) / rows);
      const folder = `${out}-${http}-${round}`;
      whole.push((await measured([...run, ...how, '--out', folder])).cpuMs / rows);
      await rm(folder, { recursive: true });
    }
    service.close();
    figures.push(
      figure(`${rows} jobs over ${http}, 50 in flight, by the library: CPU a job`, 'ms CPU', alone),
      figure(`the same as a run, over ${http}: CPU a row`, 'ms CPU', whole),
      figure(`a run over ${http} against its jobs`, '×', ratios(whole, alone), {
        limit: { atMost: atMost[http] },
      }),
    );
  }
  return figures;
}

async function measured(args: readonly string[]): Promise<CommandCost> {
  const cost = await measureCommand(args, env);
  if (cost.code !== 0) throw new Error(`${args.join(' ')} ended with ${String(cost.code)}: ${cost.stderr}`);
  return cost;
}
