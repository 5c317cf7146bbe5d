import { describe, expect, it } from 'vitest';
import { pathColumn } from '../../../../../runners/batch/manifest/columns/path-column.js';

describe('pathColumn', () => {
  it.each([
    ['input.steps', { root: 'input', path: ['steps'], text: false }],
    ['input.style.name', { root: 'input', path: ['style', 'name'], text: false }],
    ['body.code:text', { root: 'body', path: ['code'], text: true }],
    ['input.a:b', { root: 'input', path: ['a:b'], text: false }],
  ])('reads %s', (name, expected) => {
    expect(pathColumn(name)).toEqual({ name, ...expected });
  });

  it.each(['input', 'body', 'inputs.a', 'title', 'Input.a', ''])('finds no path in %j', (name) => {
    expect(pathColumn(name)).toBeUndefined();
  });

  it.each([
    ['input.', 'has an empty part; write input.<name> or input.<name>.<name>'],
    ['input..a', 'has an empty part; write input.<name> or input.<name>.<name>'],
    ['body.a.', 'has an empty part; write body.<name> or body.<name>.<name>'],
    ['body.:text', 'has an empty part; write body.<name> or body.<name>.<name>'],
    ['input.a.__proto__.b', 'has a part "__proto__"; rename it'],
    [`input${'.a'.repeat(101)}`, 'has more than 100 parts'],
  ])('refuses %s', (name, problem) => {
    expect(pathColumn(name)).toBe(problem);
  });
});
