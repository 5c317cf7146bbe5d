import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../../runners/batch/context/run-event.js';
import { ProgressFold } from '../../../../runners/cli/progress/fold-progress.js';
import type { JobEvent } from '../../../../src/contract/outcome.js';
import { summaryWith } from '../../../support/whole-values.js';

const startedAt = 1_000_000;
const started = (rowsTotal: number, alreadyEnded = 0) =>
  ({ type: 'started', rowsTotal, alreadyEnded }) as RunEvent;
const step = (id: string, event: JobEvent<unknown>): RunEvent => ({ type: 'row', id, row: 1, event });
const ended = (id: string, status: 'completed' | 'job-failed' | 'unknown' = 'completed'): RunEvent => ({
  type: 'ended',
  id,
  row: 1,
  status,
  cost: 87_500,
});
const submitting: JobEvent<unknown> = { type: 'submitting', sync: false };
const accepted: JobEvent<unknown> = { type: 'accepted', jobId: 'j' };
const status = (name: string): JobEvent<unknown> => ({ type: 'status', status: name });
const completed: JobEvent<unknown> = {
  type: 'settled',
  outcome: { status: 'completed', jobId: 'j', output: {}, costUsd: 0.0875 },
};
const refused: JobEvent<unknown> = {
  type: 'settled',
  outcome: { status: 'failed', code: 'refused', paid: 'no', message: 'busy' },
};

function viewAfter(events: readonly (readonly [seconds: number, event: RunEvent])[], at: number) {
  const fold = new ProgressFold(8, startedAt);
  for (const [seconds, event] of events) fold.take(event, startedAt + seconds * 1000);
  return fold.view(startedAt + at * 1000);
}

describe('ProgressFold', () => {
  it('knows of rows that the manifest of this start does not have', () => {
    const checked = { type: 'checked', ahead: { gone: 115 } } as RunEvent;
    expect(
      viewAfter(
        [
          [0, checked],
          [0, started(5)],
        ],
        1,
      ),
    ).toMatchObject({ rows: 5, others: 115 });
  });

  it('has those rows in flight at the end of a start that the summary counts', () => {
    const endOf = (pending?: { sent: number; accepted: number; replied: number }) =>
      viewAfter(
        [
          [0, started(5)],
          [0, step('a', submitting)],
          [0, step('b', status('IN_QUEUE'))],
          [1, { type: 'finished', exitCode: 4, reason: '', summary: summaryWith({ pending }) }],
        ],
        2,
      );
    expect(endOf()).toMatchObject({ inFlight: 0, saving: 0 });
    expect(endOf({ sent: 0, accepted: 1, replied: 2 })).toMatchObject({ inFlight: 1, saving: 2 });
  });

  it('knows nothing at first', () => {
    expect(viewAfter([], 0)).toMatchObject({ rows: undefined, inFlight: 0, completed: 0, cause: undefined });
  });

  it('follows a row from its submission to its end', () => {
    const steps: [RunEvent, object][] = [
      [step('a', submitting), { inFlight: 1, queued: 0, working: 0, saving: 0 }],
      [step('a', accepted), { inFlight: 1, accepted: 1, queued: 0, working: 0 }],
      [step('a', status('IN_QUEUE')), { inFlight: 1, queued: 1, working: 0 }],
      [step('a', status('IN_PROGRESS')), { inFlight: 1, queued: 0, working: 1 }],
      [step('a', status('COMPLETED')), { inFlight: 1, working: 1 }],
      [step('a', completed), { inFlight: 0, working: 0, saving: 1 }],
      [ended('a'), { inFlight: 0, saving: 0, completed: 1 }],
    ];
    const fold = new ProgressFold(8, startedAt);
    for (const [event, expected] of steps) {
      fold.take(event, startedAt);
      expect(fold.view(startedAt)).toMatchObject(expected);
    }
  });

  it('knows when it was not asked for a while whether jobs still wait', () => {
    const asked = (seconds: number) => [seconds, step('a', status('IN_QUEUE'))] as const;
    const view = viewAfter([[0, step('a', accepted)], asked(1)], 2);
    expect(view).toMatchObject({ queued: 1, isQueueOld: false });
    expect(viewAfter([[0, step('a', accepted)], asked(1)], 7)).toMatchObject({ queued: 1, isQueueOld: true });
    const again = viewAfter([[0, step('a', accepted)], asked(1), asked(6)], 7);
    expect(again).toMatchObject({ queued: 1, isQueueOld: false });
    const working = [7, step('a', status('IN_PROGRESS'))] as const;
    const taken = (at: number) => viewAfter([[0, step('a', accepted)], asked(1), working], at);
    expect(taken(8)).toMatchObject({ working: 1, isQueueOld: false, isWorkOld: false });
    expect(taken(9)).toMatchObject({ working: 1, isQueueOld: false, isWorkOld: true });
  });

  it('is not misled by a last step that comes after the end', () => {
    const view = viewAfter(
      [
        [0, step('a', accepted)],
        [1, ended('a')],
        [1, step('a', completed)],
      ],
      2,
    );
    expect(view).toMatchObject({ inFlight: 0, saving: 0, completed: 1 });
  });

  it('lets go of a row that stays to be done', () => {
    expect(
      viewAfter(
        [
          [0, step('a', submitting)],
          [1, step('a', refused)],
        ],
        2,
      ),
    ).toMatchObject({ inFlight: 0, failed: 0 });
  });

  it('counts what ended before apart from what ends now', () => {
    const view = viewAfter(
      [
        [0, started(10, 6)],
        [1, ended('a')],
        [1, ended('b', 'job-failed')],
        [2, ended('c', 'unknown')],
      ],
      2,
    );
    expect(view).toMatchObject({ rows: 10, endedBefore: 6, completed: 1, failed: 1, unknown: 1 });
  });

  it('counts a row once that was held, and goes on', () => {
    const reopened = (id: string, isOfThisStart: boolean): RunEvent => ({
      type: 'reopened',
      id,
      row: 1,
      isOfThisStart,
    });
    const events: [number, RunEvent][] = [
      [0, started(4, 1)],
      [1, ended('a', 'unknown')],
      [2, reopened('a', true)],
      [2, reopened('b', false)],
    ];
    expect(viewAfter(events, 3)).toMatchObject({ endedBefore: 0, unknown: 0, completed: 0 });
    const done: [number, RunEvent][] = [
      [4, ended('a')],
      [4, ended('b')],
    ];
    expect(viewAfter([...events, ...done], 5)).toMatchObject({ endedBefore: 0, unknown: 0, completed: 2 });
  });

  it('tells pace and time left by what this start does', () => {
    const view = viewAfter(
      [
        [0, started(100, 40)],
        [5, ended('a')],
        [10, ended('b')],
      ],
      10,
    );
    expect(view.rowsPerMinute).toBeCloseTo(12);
    expect(view.leftMs).toBeCloseTo((58 / 12) * 60_000);
  });

  it('takes no pace from rows that ended without having been sent', () => {
    const held = [0, 1, 2].map((n) => [0, ended(`held${n}`, 'unknown')] as const);
    expect(viewAfter([[0, started(10)], ...held], 5)).toMatchObject({ unknown: 3, rowsPerMinute: undefined });
    const view = viewAfter([[0, started(10)], ...held, [5, step('a', accepted)], [10, ended('a')]], 10);
    expect(view.rowsPerMinute).toBeCloseTo(6);
    expect(view.leftMs).toBeCloseTo(60_000);
  });

  it('names neither pace nor time left while nothing moves', () => {
    const events = [
      [0, started(100, 40)],
      [5, ended('a')],
      [10, ended('b')],
      [11, step('c', submitting)],
      [12, step('c', accepted)],
    ] as const;
    expect(viewAfter(events, 13).leftMs).toBeDefined();
    const still = viewAfter(events, 60);
    expect(still.cause).toContain('no job seen to begin or end for 48 s');
    expect([still.leftMs, still.rowsPerMinute]).toEqual([undefined, undefined]);
    const stopping = [...events, [13, { type: 'stopping', exitCode: 130, reason: 'Interrupted.' }]] as const;
    expect(viewAfter(stopping, 13).leftMs).toBeUndefined();
  });

  it('names no pace once nothing has ended for longer than a row takes, and lets none sink before', () => {
    const ends = Array.from({ length: 40 }, (_, n) => [n, ended(`e${n}`)] as const);
    const next = [39, step('x', accepted)] as const;
    const begun = [47, step('x', status('IN_PROGRESS'))] as const;
    const before = viewAfter([[0, started(99)], ...ends, next], 39);
    const shortly = viewAfter([[0, started(99)], ...ends, next], 46);
    expect(shortly.rowsPerMinute).toBe(before.rowsPerMinute);
    expect(shortly.leftMs).toBeCloseTo(before.leftMs! - 7_000);
    const later = viewAfter([[0, started(99)], ...ends, next, begun], 48);
    expect([later.cause, later.rowsPerMinute, later.leftMs]).toEqual([undefined, undefined, undefined]);
    // Eight rows at a time, each of a minute: a minute without an end is what this run is like.
    const slow = Array.from({ length: 8 }, (_, n) => [60, ended(`e${n}`)] as const);
    const working = [115, step('x', status('IN_PROGRESS'))] as const;
    expect(viewAfter([[0, started(99)], ...slow, working], 119).rowsPerMinute).toBeDefined();
  });

  it('forgets the pace of long ago', () => {
    const fast = Array.from({ length: 60 }, (_, n) => [n, ended(`f${n}`)] as const);
    const slow = Array.from({ length: 20 }, (_, n) => [60 + n * 60, ended(`s${n}`)] as const);
    expect(viewAfter([...fast, ...slow], 1200).rowsPerMinute).toBeLessThan(2);
  });

  it('takes over the money as it is told', () => {
    const view = viewAfter([[0, { type: 'money', reserved: 1, spent: 2, unknown: 3, cap: 4 }]], 0);
    expect(view.money).toEqual({ spent: 2, unknown: 3, cap: 4 });
  });

  it('names a rate limit while it lasts', () => {
    const events = [[0, step('a', { type: 'waiting', why: 'rate-limited', forMs: 30_000 })]] as const;
    expect(viewAfter(events, 4).cause).toBe('rate limited by the service, continuing in 26 s');
    expect(viewAfter(events, 30).cause).toBeUndefined();
  });

  it('names a queue that does not move, with what the service says of itself', () => {
    const fold = new ProgressFold(8, startedAt);
    fold.take(step('a', accepted), startedAt);
    fold.take(step('a', status('IN_QUEUE')), startedAt);
    expect(fold.view(startedAt + 9_000).cause).toBeUndefined();
    fold.health = 'no worker is running';
    fold.take(step('a', status('IN_QUEUE')), startedAt + 44_000);
    expect(fold.view(startedAt + 45_000).cause).toBe('queue not moving for 45 s; no worker is running');
    fold.take(step('a', status('IN_PROGRESS')), startedAt + 50_000);
    expect(fold.view(startedAt + 65_000).cause).toBe('jobs at work, none has ended for 65 s');
  });

  it('names a reply that does not come, and a result that is not saved', () => {
    expect(viewAfter([[0, step('a', submitting)]], 40).cause).toBe('no reply for 40 s');
    expect(
      viewAfter(
        [
          [0, step('a', accepted)],
          [0, step('a', completed)],
        ],
        40,
      ).cause,
    ).toBe('saving results, none has ended for 40 s');
  });

  it('keeps the rows in flight and nothing else', () => {
    const fold = new ProgressFold(8, startedAt);
    for (let n = 0; n < 10_000; n += 1) {
      fold.take(step(`r${n}`, accepted), startedAt);
      fold.take(ended(`r${n}`), startedAt);
    }
    expect(fold.view(startedAt)).toMatchObject({ inFlight: 0, queued: 0, completed: 10_000 });
  });
});
