import { describe, expect, it } from 'vitest';
import { checkFunctions } from '../../../../runners/emulator/settings/load-functions.js';

const f = (): number => 1;

describe('checkFunctions', () => {
  it('takes queue functions, routes, or both, and leaves other exports alone', () => {
    expect(checkFunctions({ queue: { a: f }, helper: 1 }, 'x.mjs')).toEqual({ queue: { a: f } });
    expect(checkFunctions({ routes: { 'GET /a/:b': f } }, 'x.mjs')).toEqual({ routes: { 'GET /a/:b': f } });
  });

  it.each([
    [{}, /x\.mjs exports neither "queue" nor "routes"/],
    [undefined, /exports neither/],
    [{ queue: f, routes: 3 }, /x\.mjs: queue is not an object|x\.mjs: routes is not an object/],
    [{ queue: null }, /x\.mjs: queue is not an object/],
    [{ queue: { a: 1 } }, /x\.mjs: queue\["a"\] is not a function/],
    [{ queue: { '../a': f } }, /queue\["\.\.\/a"\] may hold only/],
    [{ queue: { 'image-edit': f } }, /is the built-in endpoint/],
    [{ routes: { '/a': f } }, /is not of the form "GET \/path"/],
    [{ routes: { 'PUT /a': f } }, /is not of the form/],
    [{ routes: { 'GET a': f } }, /is not of the form/],
    [{ routes: { 'GET //evil': f } }, /names another host/],
    [{ routes: { 'GET /a/../b': f } }, /segment/],
    [{ routes: { 'GET /a?b=1': f } }, /has a query/],
    [{ routes: { 'GET /a': 'x' } }, /is not a function/],
  ])('refuses %o', (exported, message) => {
    expect(() => checkFunctions(exported, 'x.mjs')).toThrow(message);
  });
});
