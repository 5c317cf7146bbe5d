import { readFileSync } from 'node:fs';
import { childrenCpuMs, measureCommand } from '../measure-command.js';
import { figure, ratios, type Figure } from '../figure.js';
import { startService } from '../service/start-service.js';

const main = 'dist/runners/cli/main.js';
const env = { MILLRACE_API_KEY: 'a-key-for-the-bench' };

/** The system counts the CPU of children in steps of 10 ms: one run is six of them. */
const runsASum = 12;

/** How soon the command line is there, against node alone. CPU of the processes, so that other work does not count. */
export async function startUp(tenRows: string, rounds: number): Promise<Figure[]> {
  const calls = {
    node: ['-e', '0'],
    help: [main, '--help'],
    plan: [main, 'plan', tenRows, '--endpoint', 'edit'],
  };
  const spent: Record<keyof typeof calls, number[]> = { node: [], help: [], plan: [] };
  for (let round = -1; round < rounds; round += 1)
    for (const name of ['node', 'help', 'plan'] as const) {
      const before = childrenCpuMs();
      for (let n = 0; n < runsASum; n += 1) await measureCommand(calls[name], env, false);
      if (round >= 0) spent[name].push((childrenCpuMs() - before) / runsASum);
    }
  return [
    figure('node -e 0', 'ms CPU', spent.node),
    figure('millrace --help against it', '×', ratios(spent.help, spent.node), { limit: { atMost: 1.25 } }),
    figure('plan of ten rows against it', '×', ratios(spent.plan, spent.node), { limit: { atMost: 2 } }),
  ];
}

/** Peak memory (VmHWM) of plan, and what a row of it takes. */
export async function planMemory(file: string, rows: number): Promise<Figure[]> {
  const args = [main, 'plan', file, '--endpoint', 'edit', '--quiet'];
  const usual = await measureCommand(args, env);
  const narrow = await measureCommand(['--max-old-space-size=64', ...args], env);
  return [
    figure(`plan of ${rows} rows: peak memory`, 'MB', [usual.peakMb], { limit: { atMost: 120 } }),
    figure(`the same under --max-old-space-size=64: exit code`, '', [narrow.code ?? 99], {
      limit: { atMost: 0 },
    }),
  ];
}

/**
 * Peak memory and CPU of run against a service that answers at once, beside that of a tenth of its rows; of a second
 * start that finds all done, of status and of report. What is only to finish does so over undici, which takes less time.
 */
export async function runMemory(file: string, rows: number, out: string): Promise<Figure[]> {
  const service = await startService();
  const args = [main, 'run', file, '--base-url', service.baseUrl, '--yes', '--quiet', '--out', out];
  const wide = ['--concurrency', '50'];
  const tenth = [...args.slice(0, -1), `${out}-tenth`, ...wide, '--limit', String(Math.ceil(rows / 10))];
  const fewer = await measureCommand(tenth, env);
  const first = await measureCommand([...args, ...wide], env);
  const again = await measureCommand(args, env);
  const status = await measureCommand([main, 'status', out], env);
  const report = await measureCommand([main, 'report', out], env);
  const narrow = [
    '--max-old-space-size=64',
    ...args.slice(0, -1),
    `${out}-narrow`,
    ...wide,
    '--http',
    'undici',
  ];
  const { code } = await measureCommand(narrow, env);
  service.close();
  if (first.code !== 0) throw new Error(`the run ended with ${String(first.code)}: ${first.stderr}`);
  return [
    figure(`run of ${rows} jobs, 50 in flight: peak memory`, 'MB', [first.peakMb], {
      limit: { atMost: 150 },
    }),
    figure('the same against a tenth of the rows', '×', [first.peakMb / fewer.peakMb], {
      limit: { atMost: 1.3 },
    }),
    figure('the same: CPU a row', 'ms CPU', [first.cpuMs / rows]),
    figure('the same under --max-old-space-size=64, over undici: exit code', '', [code ?? 99], {
      limit: { atMost: 0 },
    }),
    figure(`a second start over ${rows} settled rows: peak memory`, 'MB', [again.peakMb], {
      limit: { atMost: 150 },
    }),
    figure('the same: CPU', 'ms CPU', [again.cpuMs]),
    figure(`status of ${rows} rows: peak memory`, 'MB', [status.peakMb], { limit: { atMost: 150 } }),
    figure(`report of ${rows} rows: peak memory`, 'MB', [report.peakMb], { limit: { atMost: 150 } }),
  ];
}

/** So few that a busy machine carries them: what is measured is the gate, and not its CPU. */
const perSecond = 50;

/** Runs against a service that takes so many requests a second: told the rate, and not. */
export async function rates(file: string, out: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, more, share, refused] of [
    ['told the rate', ['--rate', String(perSecond)], 0.95, 0.005],
    ['finding it out', [], 0.95, 0.02],
  ] as const) {
    const service = await startService({ perSecond });
    const args = [main, 'run', file, '--base-url', service.baseUrl, '--yes', '--quiet'];
    await measureCommand([...args, '--out', `${out}-${more.length}`, ...more], env);
    const counts = await service.counts();
    service.close();
    const seconds = (counts.lastAt - counts.firstAt) / 1_000;
    const reached = counts.answered / seconds / perSecond;
    const ofAll = counts.refused / (counts.answered + counts.refused);
    figures.push(
      figure(`${perSecond} requests/s, ${name}: share reached`, '', [reached], { limit: { atLeast: share } }),
      figure(`${perSecond} requests/s, ${name}: answers that are 429`, '', [ofAll], {
        limit: { atMost: refused },
      }),
    );
  }
  return figures;
}

/**
 * How soon a run is over after the last of its jobs, by what the service says: until every file of it is complete, as
 * run.log tells, and until its report is written as well and the process has ended. What may pass is the interval that
 * this job was really polled at, as the service saw it; what passes after the last answer is shown beside it.
 */
export async function latency(file: string, out: string, rounds: number): Promise<Figure[]> {
  const late: number[] = [];
  const beyond: number[] = [];
  const afterAnswer: number[] = [];
  const over: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const service = await startService({ longestMs: 2_000 });
    const args = [main, 'run', file, '--base-url', service.baseUrl, '--yes', '--quiet'];
    const { endedAt } = await measureCommand([...args, '--out', `${out}-${round}`], env, false);
    const last = await service.counts();
    service.close();
    const completeAt = runEndedAt(`${out}-${round}/run.log`);
    late.push(completeAt - last.endedAt);
    beyond.push(completeAt - last.endedAt - (last.reportedAt - last.askedAt));
    afterAnswer.push(completeAt - last.reportedAt);
    over.push(endedAt - completeAt);
  }
  return [
    figure('from the end of the last job to the end of the run', 'ms', late),
    figure('the same, without one poll interval', 'ms', beyond, { limit: { atMost: 100 } }),
    figure('from the last answer to the end of the run', 'ms', afterAnswer),
    figure('from there to the end of the process, its report written', 'ms', over),
  ];
}

function runEndedAt(log: string): number {
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  const printed = lines.map((line) => JSON.parse(line) as { time: string; msg: string });
  const end = printed.findLast(({ msg }) => msg === 'run ended');
  if (end === undefined) throw new Error(`${log} tells of no end`);
  return Date.parse(end.time);
}

/** What importing the library takes beyond what it stands on, as processes that do nothing else say it of themselves. */
export async function importCost(rounds: number): Promise<Figure[]> {
  const texts = {
    bare: "await Promise.all(['rxjs', 'got', 'zod'].map((name) => import(name)))",
    millrace: "await import('./dist/src/index.js')",
  };
  const spent: Record<keyof typeof texts, { cpu: number; wall: number }[]> = { bare: [], millrace: [] };
  for (let round = -1; round < rounds; round += 1)
    for (const name of ['bare', 'millrace'] as const) {
      const { stdout } = await measureCommand(['--input-type=module', '-e', timed(texts[name])], {}, false);
      if (round >= 0) spent[name].push(JSON.parse(stdout) as { cpu: number; wall: number });
    }
  const of = (name: keyof typeof texts, kind: 'cpu' | 'wall') => spent[name].map((each) => each[kind]);
  const more = (kind: 'cpu' | 'wall') => {
    const bare = of('bare', kind);
    return of('millrace', kind).map((ms, round) => ms - (bare[round] ?? Number.NaN));
  };
  return [
    figure('import of rxjs, got and zod', 'ms CPU', of('bare', 'cpu')),
    figure("import 'millrace' beyond it", 'ms CPU', more('cpu'), { limit: { atMost: 40 } }),
    figure('import of rxjs, got and zod, wall time', 'ms', of('bare', 'wall')),
    figure("import 'millrace' beyond it, wall time", 'ms', more('wall'), { note: 'shares the machine' }),
  ];
}

function timed(text: string): string {
  return `const began = process.cpuUsage(), at = performance.now();
${text};
const { user, system } = process.cpuUsage(began);
console.log(JSON.stringify({ cpu: (user + system) / 1000, wall: performance.now() - at }));`;
}
