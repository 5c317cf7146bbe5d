import { describe, expect, it } from 'vitest';
import { routeErrorSchema } from '../../../src/contract/route-error.js';

describe('routeErrorSchema', () => {
  it.each([
    [
      { error: 'bad', detail: 'more' },
      { error: 'bad', detail: 'more' },
    ],
    [
      { error: 'bad', code: 7 },
      { error: 'bad', code: 7 },
    ],
    [
      { error: { type: 'x' }, detail: ['y'] },
      { error: '{"type":"x"}', detail: '["y"]' },
    ],
    [{ error: 'bad', detail: null }, { error: 'bad' }],
  ])('reads %j', (body, read) => {
    expect(routeErrorSchema.parse(body)).toEqual(read);
  });

  it.each([{}, { error: '' }, { error: null }, { message: 'x' }, [], 'x', null])('refuses %j', (body) => {
    expect(routeErrorSchema.safeParse(body).success).toBe(false);
  });
});
