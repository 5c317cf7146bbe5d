import { describe, expect, it } from 'vitest';
import { serviceErrorText } from '../../../src/contract/service-error-text.js';

describe('serviceErrorText', () => {
  it.each([
    [{ error: 'invalid URL' }, { message: 'invalid URL' }],
    [{ message: 'no such endpoint' }, { message: 'no such endpoint' }],
    [{ error: '', message: 'second' }, { message: 'second' }],
    [
      { error: 'bad', detail: 'width' },
      { message: 'bad', detail: 'width' },
    ],
    [
      { error: 'bad', detail: [{ loc: ['w'] }] },
      { message: 'bad', detail: '[{"loc":["w"]}]' },
    ],
    [{ error: { message: 'inner' } }, { message: 'inner' }],
    [{ error: { error: 'inner', detail: 'more' } }, { message: 'inner', detail: 'more' }],
    [{ error: { code: 7 } }, { message: '{"code":7}' }],
    [{ error: 42 }, { message: '42' }],
    [{ error: '{broken' }, { message: '{broken' }],
    [{ error: '[1]' }, { message: '[1]' }],
    [{ error: '{"other":1}' }, { message: '{"other":1}' }],
  ])('reads %j', (body, text) => {
    expect(serviceErrorText(body)).toEqual(text);
  });

  it('unfolds JSON within the text', () => {
    const error = JSON.stringify({
      error_type: "<class 'torch.cuda.OutOfMemoryError'>",
      error_message: 'CUDA out of memory',
      error_traceback: 'Traceback …',
      hostname: 'x',
    });
    expect(serviceErrorText({ error })).toEqual({
      message: 'OutOfMemoryError: CUDA out of memory',
      detail: 'Traceback …',
    });
  });

  it.each([undefined, null, 'text', 7, [], {}, { error: null }, { error: '' }, { detail: 'alone' }])(
    'finds none in %j',
    (body) => {
      expect(serviceErrorText(body)).toBeUndefined();
    },
  );

  it('cuts what is long', () => {
    const text = serviceErrorText({ error: 'x'.repeat(5_000), detail: 'y'.repeat(5_000) });
    expect(text?.message).toBe(`${'x'.repeat(1_000)}…`);
    expect(text?.detail).toBe(`${'y'.repeat(4_000)}…`);
  });
});
