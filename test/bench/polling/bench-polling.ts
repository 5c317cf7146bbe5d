import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { VirtualTimeScheduler } from 'rxjs';
import { pollExponential, pollFixed, type PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import { pollLearned } from '../../../src/policy/polling/learned.js';
import { drawFront, type FrontCurve } from './draw-front.js';
import { createRandom, lognormalRunTimes } from './lognormal-run-times.js';
import { optimum } from './optimum.js';
import { type Figures, type Scenario, simulate } from './simulate.js';

type Create = (scheduler: VirtualTimeScheduler) => PollSchedule;

const jobs = Number(process.argv[2] ?? 3_000);
const seed = 20_261_121;
const runTimes = {
  '8 s': { medianMs: 8_000, sigma: 0.4 },
  '1 s': { medianMs: 1_000, sigma: 0.8 },
} as const;

const scenarioOf = (
  jobTimes: { medianMs: number; sigma: number },
  more: Partial<Scenario> = {},
): Scenario => ({
  jobs,
  inFlight: 50,
  workers: Number.POSITIVE_INFINITY,
  runTime: lognormalRunTimes(jobTimes.medianMs, jobTimes.sigma, seed),
  ...more,
});
const queued = (inFlight: number) => scenarioOf(runTimes['8 s'], { workers: 10, inFlight });
const shared = () => scenarioOf(runTimes['8 s'], { workers: 10, inFlight: 50, foreignInFlight: 50 });
const learnedAt =
  (msPerCall: number, kept = {}): Create =>
  (scheduler) =>
    pollLearned({ msPerCall, kept }, scheduler);

/** The price of a call at which the mean lag is the asked one. */
function atLag(
  lagMs: number,
  create: (msPerCall: number) => Create,
  scenario: () => Scenario,
): Figures & { msPerCall: number } {
  let low = Math.log(20);
  let high = Math.log(30_000);
  let best = { figures: simulate(scenario(), create(Math.exp(low))), msPerCall: Math.exp(low) };
  for (let round = 0; round < 10; round += 1) {
    const middle = (low + high) / 2;
    const figures = simulate(scenario(), create(Math.exp(middle)));
    if (figures.meanLagMs > lagMs) high = middle;
    else {
      low = middle;
      best = { figures, msPerCall: Math.exp(middle) };
    }
  }
  return { ...best.figures, msPerCall: best.msPerCall };
}

function keptAfter(scenario: Scenario, msPerCall: number) {
  let kept = {};
  simulate(scenario, (scheduler) => {
    const schedule = pollLearned({ msPerCall }, scheduler);
    return {
      ...schedule,
      observe(key, reply, at) {
        schedule.observe(key, reply, at);
        kept = schedule.keep();
      },
    };
  });
  return kept;
}

/** The law changes by a factor in the middle: mean lag of the jobs well after it, against a run that knew no other. */
function afterChange(factor: number): number {
  const jobTimes = runTimes['8 s'];
  const before = lognormalRunTimes(jobTimes.medianMs, jobTimes.sigma, seed);
  const half = Math.floor(jobs / 2);
  const changing = scenarioOf(jobTimes, { runTime: (n) => before(n) * (n > half ? factor : 1) });
  const steady = scenarioOf(jobTimes, { runTime: (n) => before(n) * factor });
  const lagOf = (scenario: Scenario) => {
    const { lagsBySubmission } = simulate(scenario, learnedAt(150));
    const late = lagsBySubmission.slice(half + 100, half + 600);
    return late.reduce((sum, lag) => sum + lag, 0) / late.length;
  };
  return lagOf(changing) / lagOf(steady);
}

const seconds = (ms: number) => (ms / 1_000).toFixed(2);
const rows: string[][] = [];
const row = (policy: string, scenario: string, { callsPerJob, meanLagMs }: Figures, reach = '') => {
  rows.push([policy, scenario, callsPerJob.toFixed(2), seconds(meanLagMs), reach]);
  process.stderr.write(`${rows.length} `);
};

const bestExponential: Create = (scheduler) =>
  pollExponential({ initialMs: 250, factor: 1.5, maxMs: 5_000 }, scheduler);
for (const [name, jobTimes] of Object.entries(runTimes)) {
  row(
    'every 1 s',
    name,
    simulate(scenarioOf(jobTimes), (scheduler) => pollFixed(1_000, scheduler)),
  );
  row('0.25 s × 1.5 up to 5 s', name, simulate(scenarioOf(jobTimes), bestExponential));
  const best =
    (msPerCall: number): Create =>
    (scheduler) =>
      optimum(jobTimes, msPerCall, scheduler);
  row(
    'optimum, law known',
    name,
    atLag(500, best, () => scenarioOf(jobTimes)),
  );
  if (name === '8 s')
    row(
      'optimum, law known',
      name,
      atLag(1_940, best, () => scenarioOf(jobTimes)),
    );
}
row(
  'every 1 s',
  '8 s, 10 workers',
  simulate(queued(50), (scheduler) => pollFixed(1_000, scheduler)),
);
row('0.25 s × 1.5 up to 5 s', '8 s, 10 workers', simulate(queued(50), bestExponential));

const eight = atLag(500, learnedAt, () => scenarioOf(runTimes['8 s']));
row('learned', '8 s', eight, '≤ 6.0 at 0.50');
const eightSlow = atLag(1_940, learnedAt, () => scenarioOf(runTimes['8 s']));
row('learned', '8 s', eightSlow, '≤ 2.2 at 1.94');
const kept = keptAfter(scenarioOf(runTimes['8 s']), 100);
const withKept = (msPerCall: number) => learnedAt(msPerCall, kept);
const eightKept = atLag(500, withKept, () => scenarioOf(runTimes['8 s']));
row('learned, law kept', '8 s', eightKept, '≤ 5.8 at 0.50');
const eightKeptSlow = atLag(1_940, withKept, () => scenarioOf(runTimes['8 s']));
row('learned, law kept', '8 s', eightKeptSlow, '≤ 1.95 at 1.94');
const queue50 = atLag(600, learnedAt, () => queued(50));
row('learned', '8 s, 10 workers', queue50, '≤ 5.6 at 0.60');
const queue400 = atLag(600, learnedAt, () => queued(400));
row('learned', '8 s, 10 workers, 400 in flight', queue400, '≤ 5.6 at 0.60');
row('learned', '8 s, 10 workers, half is others’', simulate(shared(), learnedAt(140)));
const one = atLag(500, learnedAt, () => scenarioOf(runTimes['1 s']));
row('learned', '1 s', one, '≤ 2.1 at 0.50');
const byDefault = simulate(scenarioOf(runTimes['1 s']), (scheduler) => pollLearned({}, scheduler));
row('learned, as it is by default', '1 s', byDefault, '2.4 at 0.40');
const thrifty = simulate(queued(50), learnedAt(1_000));
const soonest = simulate(queued(50), learnedAt(40));
row('learned, thrifty', '8 s, 10 workers', thrifty, '≤ 2.0');
const slower = thrifty.makespanMs / soonest.makespanMs;
/** The first job of an unknown endpoint: its run time in s, and the most that is asked of it: lag in ms of a short one, else calls. */
const firstWanted = [
  { runTimeS: 0.05, lagMs: 150 },
  { runTimeS: 1, calls: 4 },
  { runTimeS: 8, calls: 6 },
  { runTimeS: 60, calls: 14 },
  { runTimeS: 600, calls: 50 },
];
const firstMisses = firstWanted.map(({ runTimeS, lagMs, calls = Infinity }) => {
  const first = simulate(
    { jobs: 1, inFlight: 1, workers: Number.POSITIVE_INFINITY, runTime: () => runTimeS * 1_000 },
    (scheduler) => pollLearned({}, scheduler),
  );
  const wanted = lagMs === undefined ? `≤ ${calls} calls` : `≤ ${lagMs / 1_000} s`;
  row('learned, unknown endpoint, one job', `${runTimeS} s`, first, wanted);
  const [is, most] = lagMs === undefined ? [first.callsPerJob, calls] : [first.meanLagMs, lagMs];
  return [`unknown endpoint, a job of ${runTimeS} s (${wanted})`, is, most] as const;
});
const uniform = createRandom(seed);
const shortRunTimes = Array.from({ length: jobs }, () => 50 * uniform());
const short = (): Scenario => ({
  jobs,
  inFlight: 50,
  workers: Number.POSITIVE_INFINITY,
  runTime: (n) => shortRunTimes[n % jobs] ?? 0,
});
const shortFixed = simulate(short(), (scheduler) => pollFixed(25, scheduler));
row('every 25 ms', '0–50 ms, slots full', shortFixed);
const shortLearned = simulate(short(), (scheduler) => pollLearned({}, scheduler));
row('learned, as it is by default', '0–50 ms, slots full', shortLearned, 'as every 25 ms');
const shortSpeed = shortFixed.makespanMs / shortLearned.makespanMs;
const changes = { '× 4': afterChange(4), '÷ 4': afterChange(0.25) };

const header = ['policy', 'law of run times', 'calls a job', 'mean lag, s', 'reach'];
const table = [header, header.map(() => '---'), ...rows]
  .map((cells) => `| ${cells.join(' | ')} |`)
  .join('\n');
const notes = [
  `Makespan of the thrifty setting against asking all the time, queue fed: ${slower.toFixed(4)} ×.`,
  `Jobs of 0–50 ms, slots full: ${shortSpeed.toFixed(2)} of the jobs a second that polls every 25 ms reach.`,
  `Mean lag of the jobs after a change of the law, against a run that knew no other law: ${Object.entries(
    changes,
  )
    .map(([name, ratio]) => `${name}: ${ratio.toFixed(2)} ×`)
    .join(', ')}.`,
  `${jobs} jobs a scenario, 50 in flight unless said, virtual time, seed ${seed}; ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus()[0]?.model ?? ''}.`,
];
process.stdout.write(`${table}\n\n${notes.join('\n')}\n`);
writeFileSync(
  'test/bench/polling/README.md',
  `# Status calls against lag\n\nWritten by \`npm run bench:polling\`.\n\n${table}\n\n${notes.map((note) => `- ${note}`).join('\n')}\n\n![calls against lag](front.svg)\n`,
);

const prices = [10, 20, 40, 80, 150, 300, 600, 1_200, 2_400];
const curve = (name: string, points: Figures[]): FrontCurve => ({
  name,
  points: points.map(({ callsPerJob, meanLagMs }) => ({ calls: callsPerJob, lagS: meanLagMs / 1_000 })),
});
const eightAt = (create: Create) =>
  simulate(scenarioOf(runTimes['8 s'], { jobs: Math.min(jobs, 1_000) }), create);
writeFileSync(
  'test/bench/polling/front.svg',
  drawFront('Status calls against lag: lognormal run times, median 8 s, sigma 0.4', [
    curve(
      'optimum, law known',
      prices.map((price) => eightAt((scheduler) => optimum(runTimes['8 s'], price, scheduler))),
    ),
    curve(
      'learned',
      prices.map((price) => eightAt(learnedAt(price))),
    ),
    curve(
      'fixed',
      [500, 700, 1_000, 1_500, 2_000, 3_000, 5_000].map((ms) =>
        eightAt((scheduler) => pollFixed(ms, scheduler)),
      ),
    ),
    curve(
      'exponential',
      [500, 1_000, 2_000, 5_000, 10_000].map((maxMs) =>
        eightAt((scheduler) => pollExponential({ initialMs: 250, factor: 1.5, maxMs }, scheduler)),
      ),
    ),
  ]),
);

const misses = [
  ['8 s at 0.50 s', eight.callsPerJob, 6.0],
  ['8 s at 1.94 s', eightSlow.callsPerJob, 2.2],
  ['8 s at 0.50 s, law kept', eightKept.callsPerJob, 5.8],
  ['8 s at 1.94 s, law kept', eightKeptSlow.callsPerJob, 1.95],
  ['queued', queue50.callsPerJob, 5.6],
  ['queued, deep', queue400.callsPerJob, 5.6],
  ['1 s at 0.50 s', one.callsPerJob, 2.1],
  ['thrifty calls', thrifty.callsPerJob, 2.0],
  ['thrifty makespan', slower, 1.01],
  ...firstMisses,
  ['0–50 ms: calls a job', shortLearned.callsPerJob, shortFixed.callsPerJob],
  ['0–50 ms: time against every 25 ms', 1 / shortSpeed, 1 / 0.8],
  ['lag after × 4', changes['× 4'], 1.5],
  ['lag after ÷ 4', changes['÷ 4'], 1.5],
].filter(([, is, most]) => Number(is) > Number(most));
for (const [what, is, most] of misses)
  process.stderr.write(`missed: ${what} is ${is}, at most ${most} was asked\n`);
if (misses.length > 0) process.exitCode = 1;
