import { calledFleet, lossyFleet, randomFleet, severalFleet, switchedFleet } from './random-fleet.js';
import { simulateFleet } from './simulate-fleet.js';

// npm run test:simulate:fleet -- [count] [first seed]: random schedules of runs over a database, in virtual time. With a count of 1
// the schedule and what happened are printed. `called` as the third argument: of a service that calls back; `switched`: standbys take
// the place of the database; `lossy`: they lack its last commits; `several`: several runs share the database.
const fleets: Readonly<Record<string, typeof randomFleet>> = {
  called: calledFleet,
  switched: switchedFleet,
  lossy: lossyFleet,
  several: severalFleet,
};
const [most = '1000', from = '1', kind] = process.argv.slice(2);
const [count, first] = [Number(most), Number(from)];
const print = (line: string): void => void process.stdout.write(`${line}\n`);
let failed = 0;
const seen = { died: 0, lost: 0, workers: 0 };
for (let seed = first; seed < first + count; seed++) {
  const simulation = (fleets[kind ?? ''] ?? randomFleet)(seed);
  if (count === 1) print(JSON.stringify(simulation, undefined, 1));
  const { broken, exitCodes, workers, lost } = await simulateFleet(
    count === 1 ? { ...simulation, watch: print } : simulation,
  );
  seen.died += exitCodes.filter((code) => code === 'died').length;
  seen.lost += lost;
  seen.workers += workers;
  if (broken.length === 0) continue;
  failed += 1;
  print(`seed ${seed} (starts: ${exitCodes.join(' ')}):\n  ${broken.slice(0, 6).join('\n  ')}`);
}
print(
  `${count} schedules from seed ${first}: ${failed} failed (${seen.workers} workers, ${seen.lost} lost, ${seen.died} collectors died)`,
);
if (failed > 0) process.exitCode = 1;
