import { describe, expect, it } from 'vitest';
import {
  askedAxes,
  axesChange,
  axesChangeText,
  withAxes,
} from '../../../../../runners/batch/manifest/matrix/asked-axes.js';

type Asked = Parameters<typeof askedAxes>[0];

/** What is said of a start after these starts. */
const textOf = (now: Asked, ...before: Asked[]): string[] => {
  const known = before.reduce((all, start) => withAxes(all, askedAxes(start)), withAxes([], undefined));
  const change = axesChange(known, now);
  return change === undefined ? [] : axesChangeText(change);
};

describe('axesChange', () => {
  const style = (...values: string[]): Asked => ({ each: { style: values } });

  it.each<[string, Asked, Asked[], string[]]>([
    ['the same', style('oil', 'ink'), [style('oil', 'ink')], []],
    ['another order', style('ink', 'oil'), [style('oil', 'ink')], []],
    ['a decomposed letter', style('e\u0301'), [style('\u00e9')], []],
    ['a value more', style('oil', 'ink'), [style('oil')], ['style: new "ink"']],
    ['a value less', style('oil'), [style('oil', 'ink')], ['style: no longer asked for "ink"']],
    ['another value', style('pen'), [style('oil')], ['style: new "pen"; no longer asked for "oil"']],
    ['values of two starts', style('oil', 'ink'), [style('oil'), style('ink')], []],
    ['no axes', {}, [style('oil')], []],
    ['a repeat more', { repeat: 3 }, [{ repeat: 2 }], ['repeat: new "3"']],
    ['a repeat after none', { repeat: 2 }, [{}], ['repeat: new "2"']],
    [
      'a repeat less',
      { ...style('oil'), repeat: 2 },
      [{ ...style('oil'), repeat: 3 }],
      ['repeat: no longer asked for "3"'],
    ],
    [
      'another axis',
      { each: { look: ['oil'] } },
      [style('oil', 'ink')],
      ['look: a new axis with "oil"', 'style: no axis any more, no longer asked for "oil", "ink"'],
    ],
    [
      'many values',
      style(...Array.from({ length: 9 }, (_, at) => `v${at}`)),
      [style('oil')],
      ['style: new "v0", "v1", "v2", "v3", "v4" and 4 more; no longer asked for "oil"'],
    ],
  ])('says of %s what is new and what is gone', (_what, now, before, expected) => {
    expect(textOf(now, ...before)).toEqual(expected);
  });

  it('keeps a thousand values of an axis, and says nothing of what it cannot know', () => {
    const many = Array.from({ length: 2_000 }, (_, at) => `v${at}`);
    const [kept] = askedAxes(style(...many));
    expect(kept).toMatchObject({ name: 'style', isCut: true });
    expect(kept?.values).toHaveLength(1_000);
    expect(textOf(style(...many), style(...many))).toEqual([]);
    expect(textOf(style('other'), style(...many))[0]).toContain('no longer asked for "v0"');
  });

  it('takes nothing from a start that noted none, as an older version did', () => {
    expect(withAxes([], undefined)).toEqual([]);
    expect(withAxes([], { style: ['oil'] })).toEqual([]);
  });
});
