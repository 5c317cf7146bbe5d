import { crashEverywhere } from './crash-everywhere.js';
import { calledSimulation, randomSimulation, strangeSimulation } from './random-simulation.js';
import { type Simulation, simulateRun } from './simulate-run.js';
import { sixtyRows } from './sixty-rows.js';
import { meddlings } from './meddling.js';
import { strangeReplies } from './strange-replies.js';

// npm run test:simulate -- [count] [first seed] [kinds]: random schedules in virtual time. A seed that fails is printed,
// and `npm run test:simulate -- 1 SEED KINDS` plays it again. Kinds are names of `strange-replies.ts` and `meddling.ts`, separated by commas;
// by default all that are played, `none`: schedules without strange replies, and `called`: of a service that calls back.
// npm run test:simulate crash-points: a run of 60 rows dies at each of its calls.
const [what = '100000', from = '1', kinds] = process.argv.slice(2);
const failed = what === 'crash-points' ? await dieEverywhere() : await schedules(Number(what), Number(from));
if (failed > 0) process.exitCode = 1;

async function dieEverywhere(): Promise<number> {
  const { calls, tried, broken } = await crashEverywhere(sixtyRows);
  for (const text of broken) print(text);
  print(`${tried} of ${calls} calls: ${broken.length} failed`);
  return broken.length;
}

async function schedules(count: number, firstSeed: number): Promise<number> {
  let broke = 0;
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const simulation = simulationOf(seed);
    const watched = count === 1 ? { ...simulation, watch: report } : simulation;
    if (count === 1) print(JSON.stringify(simulation, undefined, 1));
    const { broken, exitCodes } = await simulateRun(watched);
    if (broken.length > 0) {
      broke++;
      print(`seed ${seed} (starts: ${exitCodes.join(' ')}):\n  ${broken.join('\n  ')}`);
    }
    if ((seed - firstSeed + 1) % 1_000 === 0) print(`${seed - firstSeed + 1} of ${count}, ${broke} failed`);
  }
  print(`${count} schedules, seeds ${firstSeed} to ${firstSeed + count - 1}: ${broke} failed`);
  return broke;
}

function simulationOf(seed: number): Simulation {
  if (kinds === 'none') return randomSimulation(seed);
  if (kinds === 'called') return calledSimulation(seed);
  if (kinds === undefined) return strangeSimulation(seed);
  const isAsked = (kind: string): boolean => kinds.split(',').includes(kind);
  return strangeSimulation(seed, {
    replies: strangeReplies.filter(isAsked),
    meddlings: meddlings.filter(isAsked),
  });
}

/** Whatever the run has on its disk at the end of a start. */
function report(...[disk, end]: Parameters<NonNullable<Simulation['watch']>>): void {
  print(`---- ${end === undefined ? 'died' : `exit ${end.exitCode}: ${end.reason}`}`);
  for (const path of disk.paths()) {
    const isText = /\.(jsonl|csv|json|log|tmp)$/.test(path);
    print(`== ${path}\n${isText ? (disk.peek(path)?.toString() ?? '') : ''}`);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
