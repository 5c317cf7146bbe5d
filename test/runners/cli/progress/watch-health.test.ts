import { of, throwError } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { ProgressView } from '../../../../runners/cli/progress/progress-view.js';
import { watchHealth } from '../../../../runners/cli/progress/view-run.js';

const still = { accepted: 1, queued: 2, working: 0 } as ProgressView;

/** What is noted, and when it was asked, in the first five minutes of a queue that stands from the beginning. */
function watch(view: (at: number) => ProgressView, fails = false): { asked: number[]; noted: string[] } {
  const scheduler = new TestScheduler(() => undefined);
  const [asked, noted]: [number[], string[]] = [[], []];
  scheduler.run(() => {
    const ask = () => {
      asked.push(scheduler.now() / 1000);
      return fails ? throwError(() => new Error('404')) : of('no worker is up');
    };
    const asking = watchHealth({ view, ask, note: (words) => noted.push(words), scheduler });
    scheduler.schedule(() => asking.unsubscribe(), 300_000);
  });
  return { asked, noted };
}

describe('watchHealth', () => {
  it('asks after half a minute, and then once a minute', () => {
    const { asked, noted } = watch((at) => ({ ...still, stillMs: at }));
    expect(asked).toEqual([30, 90, 150, 210, 270]);
    expect(noted).toEqual(Array.from({ length: 5 }, () => 'no worker is up'));
  });

  it('asks nothing while something moves or is worked on', () => {
    expect(watch((at) => ({ ...still, stillMs: at % 20_000 })).asked).toEqual([]);
    expect(watch((at) => ({ ...still, working: 1, stillMs: at })).asked).toEqual([]);
    expect(watch((at) => ({ ...still, accepted: 0, queued: 0, stillMs: at })).asked).toEqual([]);
  });

  it('goes on asking after an answer that did not come', () => {
    expect(watch((at) => ({ ...still, stillMs: at }), true)).toEqual({
      asked: [30, 90, 150, 210, 270],
      noted: [],
    });
  });
});
