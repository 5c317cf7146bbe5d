import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { thisHost, type Owner } from '../../../../runners/batch/lock/owner.js';
import { surveyRun, type Survey } from '../../../../runners/report/survey/survey-run.js';
import { JournalTail } from '../../../../runners/report/watch/journal-tail.js';
import type { LiveState } from '../../../../runners/report/watch/live-state.js';
import { viewFlight, type FlightView } from '../../../../runners/report/watch/view-flight.js';
import { makeRun } from '../../../support/make-run.js';

const owner: Owner = {
  pid: 2933,
  host: thisHost(),
  started: '2026-11-22T09:00:00.000Z',
  command: 'millrace run',
};
const now = Date.UTC(2026, 10, 22, 9, 30);
const queue: LiveState = {
  at: now,
  rows: 25,
  inFlight: 8,
  queued: 5,
  working: 2,
  saving: 1,
  isStopping: false,
};

let parent: string;
let folder: string;
afterAll(() => rm(parent, { recursive: true, force: true }));
let survey: Survey;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'millrace-flight-'));
  folder = join(parent, 'edits.out');
  await makeRun({ folder, rows: 20, pictures: false, toDo: 15 });
  survey = await surveyRun(nodeDisk, folder);
});

function view(live: LiveState | undefined, exitCode?: number, holder?: Owner, seen = survey): FlightView {
  const tail = new JournalTail(nodeDisk, folder);
  tail.starts = 1;
  tail.exitCode = exitCode;
  return viewFlight({ tail, owner: holder, survey: seen, live, now });
}

describe('viewFlight', () => {
  it('says what the terminal says: in progress, queued and working, the rate, and when it ends by the clock', () => {
    const { mode, state, facts, cause } = view(
      { ...queue, rowsPerMinute: 12, leftMs: 120_000 },
      undefined,
      owner,
    );
    expect({ mode, state, cause }).toEqual({
      mode: 'running',
      state: 'Running: 9 rows in progress (PID 2933)',
      cause: '',
    });
    expect(facts.slice(0, 5)).toEqual(['1 sending', '5 queued', '2 working', '1 saving', '12 rows a minute']);
    expect(facts[5]).toMatch(/^about 2 min left, until \d\d:32$/);
  });

  it('says of a job that the service was not asked about neither that it waits nor that it is worked on', () => {
    const facts = (live: object): string[] => [...view({ ...queue, ...live }, undefined, owner).facts];
    expect(facts({ sending: 1, accepted: 4, queued: 1 }).slice(0, 4)).toEqual([
      '1 sending',
      '1 queued',
      '2 working',
      '4 queued or working',
    ]);
    expect(facts({ isQueueOld: true, isWorkOld: true }).slice(1, 3)).toEqual([
      '5 last seen queued',
      '2 last seen working',
    ]);
    const elsewhere = { inFlight: 8, sending: 0, queued: 0, working: 0, saving: 0 };
    expect(facts(elsewhere)[0]).toBe('8 with workers');
  });

  it('counts by the journal where the process has not yet said what it does', async () => {
    const tail = new JournalTail(nodeDisk, folder);
    tail.starts = 1;
    for (const id of ['a', 'b']) tail.rows.set(id, { id, status: 'accepted', since: now });
    const late = { ...queue, inFlight: 0, queued: 0, working: 0, saving: 0 };
    const flight = viewFlight({ tail, owner, survey, live: late, now });
    expect([flight.state, flight.facts[0]]).toEqual([
      'Running: 2 rows in progress (PID 2933)',
      '2 queued or working',
    ]);
  });

  it('says of a start that was cut off what the next one does with each row that was sent', () => {
    const tail = new JournalTail(nodeDisk, folder);
    tail.starts = 1;
    const statuses = ['sent', 'accepted', 'accepted', 'replied'] as const;
    for (const [place, status] of statuses.entries())
      tail.rows.set(`r${place}`, { id: `r${place}`, status, since: now });
    const facts = (isRehearsal: boolean): readonly string[] =>
      viewFlight({ tail, owner: undefined, survey: { ...survey, isRehearsal }, live: undefined, now }).facts;
    expect(facts(false)).toEqual([
      '1 row was sent and no answer was seen: in doubt from the next run on.',
      '2 jobs are at the service: the next run asks for them, and buys nothing again.',
      '1 result is still to be saved, by the next run.',
    ]);
    expect(facts(true)[1]).toBe('3 jobs ended with the emulator.');
  });

  it('names the cause of a standstill, and no time left meanwhile', () => {
    const cause = 'queue not moving for 39 s; the service says 0 of 2 workers busy';
    const flight = view({ ...queue, cause }, undefined, owner);
    expect(flight.cause).toBe(`Waiting: ${cause}.`);
    expect(flight.facts.join()).not.toMatch(/left|a minute/);
  });

  it('names no time left of a process that does not say what it does', () => {
    const [end = 0] = survey.rows.places.endTimes;
    const story = { ...survey.story, starts: [{ ...survey.story.starts[0]!, at: end - 30_000 }] };
    const tail = new JournalTail(nodeDisk, folder);
    tail.starts = 1;
    const moment = { tail, owner, survey: { ...survey, story }, live: undefined, now: end + 30_000 };
    const facts = viewFlight(moment).facts.join('; ');
    expect(facts).toMatch(/rows a minute on average/);
    expect(facts).not.toContain('left');
  });

  it('is not live once the process is gone, whatever it wrote last', () => {
    expect(view(queue)).toMatchObject({
      mode: 'stopped',
      state: 'Stopped: the process ended without finishing',
      cause: '',
    });
    expect(view(undefined, 0)).toMatchObject({ mode: 'ended', state: 'Finished' });
    expect(view(undefined, 6).state).toBe('The last start ended with exit code 6: rows are in doubt');
  });

  it('counts no more rows in progress than are to go', () => {
    const flight = view(queue, undefined, owner, { ...survey, toDo: 3 });
    expect([flight.state, flight.facts.join()]).toEqual([
      'Running: 0 rows in progress (PID 2933)',
      expect.not.stringMatching(/queued|working/),
    ]);
    const over = { ...queue, rowsPerMinute: 12, leftMs: 400 };
    expect(view(over, undefined, owner, { ...survey, toDo: 0 }).facts.join()).not.toContain('left');
  });

  it('says what the run will have cost at its end, against the limit', () => {
    const total = { ...survey.money.total, purchases: 20, reported: 2_000_000, estimated: 0, unknown: 0 };
    const money = { ...survey.money, total };
    const costOf = (changes: Partial<Survey>): string[] =>
      view(queue, undefined, owner, { ...survey, money, toDo: 5, ...changes }).facts.filter((fact) =>
        fact.includes('$'),
      );
    expect(costOf({})).toEqual(['about $2.50 at the end, no limit set']);
    // What is in doubt counts, and says nothing of the price of the rows to go.
    const doubtful = { ...total, purchases: 2, reported: 200_000, unknown: 600_000 };
    expect(costOf({ money: { ...money, total: doubtful } })).toEqual([
      'about $1.30 at the end, no limit set',
    ]);
    expect(costOf({ cap: 3_000_000 })).toEqual(['about $2.50 at the end, limit $3.00']);
    expect(costOf({ cap: 2_200_000 })).toEqual([
      'limit $2.20, which is reached before the end: all rows would cost about $2.50',
    ]);
    expect(costOf({ isRehearsal: true })).toEqual([]);
    expect(costOf({ money: { ...money, total: { ...total, purchases: 0 } } })).toEqual([]);
  });

  it('counts in the title of the tab', () => {
    expect(view(queue, undefined, owner).title).toMatch(/^20\/35(, \d+ failed)? · edits\.csv$/);
    expect(view(undefined, 0).title).toContain('not running');
  });
});
