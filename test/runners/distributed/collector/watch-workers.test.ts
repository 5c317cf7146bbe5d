import { Subject, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Run } from '../../../../runners/batch/context/run.js';
import type { RemoteRun } from '../../../../runners/distributed/collector/remote-run.js';
import { SilentWorkers, watchWorkers } from '../../../../runners/distributed/collector/watch-workers.js';
import { describeSilence, type WorkerState } from '../../../../runners/distributed/table/worker-record.js';

const none = { sends: 0, polls: 0, saves: 0 };

function worker(seenMsAgo: number, more: Partial<WorkerState> = {}): WorkerState {
  const facts = { worker: 'a', host: 'b', pid: 7, startedAt: 0, does: none, rows: 2 };
  return { ...facts, seenMsAgo, ...more };
}

describe('a silent worker', () => {
  it.each([
    [worker(11_000), undefined],
    [worker(12_000), 'silent for 12 s; its 2 rows go on in at most 33 s'],
    [worker(12_000, { rows: 1 }), 'silent for 12 s; its row goes on in at most 33 s'],
    [worker(12_000, { rows: 0 }), 'silent for 12 s; it held no rows'],
    [worker(90_000), 'silent for 90 s; its 2 rows go on as soon as another worker is there'],
  ])('is described, with the time until its rows go on (%#)', (state, text) => {
    expect(describeSilence(state)).toBe(text);
  });

  function looks(...states: (readonly WorkerState[])[]): string[] {
    const messages: string[] = [];
    const silent = new SilentWorkers((_, message) => messages.push(message));
    for (const state of states) silent.look(state);
    return messages;
  }
  const other = worker(0, { worker: 'c', rows: 0 });
  const begun = 'worker 1 on host b has been silent for 12 s; its 2 rows go on in at most 33 s';

  it('is reported once, and once when its rows have gone on', () => {
    const dead = [[worker(12_000)], [worker(14_000)], [worker(41_000)], [worker(44_000, { rows: 0 })]];
    expect(
      looks(...dead.map((states) => [...states, other]), [other], [worker(60_000, { rows: 0 }), other]),
    ).toEqual([begun, 'worker 1 on host b is declared dead: its 2 rows have gone on']);
  });

  it('leaves its rows to another worker where none is there', () => {
    expect(looks([worker(12_000)], [worker(44_000, { rows: 0 })])).toEqual([
      begun,
      'worker 1 on host b is declared dead: its 2 rows wait for another worker',
    ]);
  });

  it('is reported again after it was back', () => {
    expect(looks([worker(12_000)], [worker(1_000)], [worker(12_000)])).toEqual([
      begun,
      'worker 1 on host b is back',
      begun,
    ]);
  });

  it('that died before this start and holds nothing is left out', () => {
    expect(looks([worker(70_000, { rows: 0 })], [worker(72_000, { rows: 0 })])).toEqual([]);
  });
});

it('has its rows for as long as the database was away, and some time after: it could send no heartbeat [fault 19]', async () => {
  const scheduler = new VirtualTimeScheduler();
  const swept: number[] = [];
  const database = { isAway: true };
  const query = (text: string) => {
    if (database.isAway) return Promise.reject(new Error('connect ECONNREFUSED'));
    if (text.includes('from millrace.seats')) swept.push(scheduler.now());
    const silent = { ...worker(60_000), does: JSON.stringify(none) };
    if (text.includes('clock_timestamp())::float8 * 1000 as now'))
      return Promise.resolve({ rows: [{ now: scheduler.now() }] });
    return Promise.resolve({ rows: text.includes('from millrace.workers w') ? [silent] : [] });
  };
  const run = { options: { scheduler }, events: new Subject(), log: { write: () => undefined } };
  const remote = { database: { pool: { query } }, state: { open: 2, inFlight: 2 } };
  const watching = watchWorkers(run as unknown as Run, remote as unknown as RemoteRun);
  const passUntil = async (ms: number) => {
    for (let time = scheduler.now(); time < ms; time += 1_000) {
      scheduler.maxFrames = time + 1_000;
      scheduler.flush();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await passUntil(60_000);
  database.isAway = false;
  await passUntil(74_000);
  expect(swept).toEqual([]);
  await passUntil(90_000);
  expect(swept).not.toEqual([]);
  await watching.end();
});

/** The warnings of 40 s in which rows wait. */
async function warningsOf(
  workers: readonly WorkerState[],
  seated: number,
  command: string,
): Promise<string[]> {
  const scheduler = new VirtualTimeScheduler();
  const found = workers.map((one) => ({ ...one, does: JSON.stringify(none) }));
  const query = (text: string) => {
    if (text.includes(' as now')) return Promise.resolve({ rows: [{ now: scheduler.now() }] });
    return Promise.resolve({ rows: text.includes('from millrace.workers w') ? found : [] });
  };
  const events = new Subject<{ message: string }>();
  const messages: string[] = [];
  events.subscribe(({ message }) => messages.push(message));
  const run = { options: { scheduler }, events, log: { write: () => undefined } };
  const remote = { database: { pool: { query } }, state: { open: 12, inFlight: 0, workers: seated } };
  const watching = watchWorkers(run as unknown as Run, remote as unknown as RemoteRun, command);
  for (let time = 1_000; time <= 40_000; time += 1_000) {
    scheduler.maxFrames = time;
    scheduler.flush();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await watching.end();
  return messages;
}

it('prints the command that starts a worker where rows wait and none works on them', async () => {
  const command = 'millrace worker --db postgres://db.example/millrace --base-url https://api.example.com';
  const [one, two] = [worker(1_000), worker(2_000, { worker: 'c' })];
  expect(await warningsOf([], 0, command)).toEqual([
    `12 rows wait, but no worker is running. Start one: \`${command}\``,
  ]);
  expect(await warningsOf([one, two], 0, command)).toEqual([
    `12 rows wait, but none of the running workers (2) works on this run: they were given other hosts, or do not know its settings. Their output names the reason. Start one: \`${command}\``,
  ]);
  expect(await warningsOf([one, two], 1, command)).toEqual([]);
});
