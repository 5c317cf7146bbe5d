import { describe, expect, it } from 'vitest';
import { spansOf } from '../../../../runners/report/survey/spans-of.js';
import type { RunStory } from '../../../../runners/report/survey/run-story.js';

function story(starts: number[], stops: number[]): RunStory {
  return {
    starts: starts.map((at) => ({
      at,
      manifest: '',
      baseUrl: '',
      lbBaseUrl: '',
      local: false,
      repeat: { manifest: [], others: [] },
      axes: [],
      maxCost: undefined,
    })),
    stops: stops.map((at) => ({ at, exitCode: 0 })),
  };
}

describe('spansOf', () => {
  it('keeps a long pause between two starts apart', () => {
    expect(spansOf(story([0, 1000], [100, 1200]), [50, 1100])).toEqual([
      { from: 0, to: 100 },
      { from: 1000, to: 1200 },
    ]);
  });

  it('joins starts with hardly a pause between them', () => {
    expect(spansOf(story([0, 105], [100, 200]), [50, 150])).toEqual([{ from: 0, to: 200 }]);
  });

  it('ends a start that was killed with the last row it ended', () => {
    expect(spansOf(story([0, 1000], [1200]), [40, 90, 1100])).toEqual([
      { from: 0, to: 90 },
      { from: 1000, to: 1200 },
    ]);
  });

  it('goes by the rows alone without a journal', () => {
    expect(spansOf(story([], []), [40, 90])).toEqual([{ from: 40, to: 90 }]);
    expect(spansOf(story([], []), [])).toEqual([]);
  });
});
