import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import type { RequestPurpose } from '../../../src/policy/may-send-again.js';
import type { ReplyError } from '../../../src/transport/reply-error.js';
import {
  BadRequestError,
  MalformedReplyError,
  NotFoundError,
  RateLimitedError,
  RedirectError,
  ServerError,
  UnauthorizedError,
  UnexpectedStatusError,
} from '../../../src/transport/reply-error.js';
import { readReply } from '../../../src/transport/read-reply.js';
import type { Reading } from '../../../src/transport/read-reply.js';

const key = 'canary-4f1f7c0e9d';

function read(purpose: RequestPurpose, status: number, body: unknown, jobId?: string, headers = {}): Reading {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const method = purpose === 'submit' || purpose === 'route-post' ? 'POST' : 'GET';
  const request = { method, url: 'https://api.example/v2/x/run?token=1' } as const;
  return readReply({ status, headers, body: text }, { purpose, request, jobId, secrets: [key], nowMs: 0 });
}

function errorOf(reading: Reading): ReplyError {
  if (!('error' in reading)) throw new Error(`no error in ${inspect(reading)}`);
  return reading.error;
}

describe('an answer of /stream', () => {
  it('is the chunks and the state of the job, without their wrapping', () => {
    expect(
      read('stream', 200, { status: 'IN_PROGRESS', stream: [{ output: 1 }, { output: null }] }),
    ).toMatchObject({
      body: 'value',
      chunks: { status: 'IN_PROGRESS', stream: [1, null] },
    });
    expect(read('stream', 200, { status: 'FAILED', error: 'no' })).toMatchObject({
      body: 'value',
      chunks: { status: 'FAILED', stream: [] },
    });
  });

  it.each([{ stream: [] }, { status: 'COMPLETED', stream: 7 }, [], 'text', '{"status":"IN_PRO'])(
    'is malformed without a state or a list: %j',
    (body) => {
      expect(errorOf(read('stream', 200, body))).toBeInstanceOf(MalformedReplyError);
      expect(errorOf(read('stream', 200, body)).message).toContain('chunks of a job');
    },
  );

  it('is none under an HTTP error, whatever the body', () => {
    expect(errorOf(read('stream', 502, { status: 'COMPLETED', stream: [] }))).toBeInstanceOf(ServerError);
    expect(errorOf(read('stream', 404, { error: 'gone' }))).toBeInstanceOf(NotFoundError);
  });
});

describe('an answer of /retry', () => {
  it('is the job that was asked for, its id taken from the question when it is missing', () => {
    expect(read('retry', 200, { id: 'j1', status: 'IN_QUEUE' }, 'j1')).toMatchObject({ body: 'job' });
    expect(read('retry', 200, {}, 'j1')).toMatchObject({ job: { id: 'j1', status: 'IN_QUEUE' } });
    expect(errorOf(read('retry', 200, { id: 'j2', status: 'IN_QUEUE' }, 'j1'))).toBeInstanceOf(
      MalformedReplyError,
    );
  });

  it('is an error of the service under HTTP 400', () => {
    expect(errorOf(read('retry', 400, { error: 'it is COMPLETED' }, 'j1'))).toBeInstanceOf(BadRequestError);
  });
});

describe('an answer of /purge-queue', () => {
  it('is any JSON', () => {
    expect(read('purge', 200, { removed: 2 })).toMatchObject({ body: 'value', value: { removed: 2 } });
    expect(errorOf(read('purge', 200, '<html>'))).toBeInstanceOf(MalformedReplyError);
  });
});

describe('a submission', () => {
  it('is accepted by an id', () => {
    expect(read('submit', 200, { id: 'j1', status: 'IN_QUEUE' })).toEqual({
      status: 200,
      body: 'job',
      job: { id: 'j1', status: 'IN_QUEUE' },
    });
  });

  it('is accepted by an id alone: the job is not lost', () => {
    expect(read('submit', 200, { id: 'j1' })).toMatchObject({
      body: 'job',
      job: { id: 'j1', status: 'IN_QUEUE' },
    });
  });

  it('keeps unknown fields and states, and any output [fault 13]', () => {
    const job = { id: 'sync-1', status: 'WARMING', output: [1, null], workerId: 'w', delayTime: 3 };
    expect(read('submit', 200, job)).toEqual({ status: 200, body: 'job', job });
  });

  it.each([200, 400, 401, 404, 429, 500, 503])('is answered by a FAILED body under HTTP %i', (status) => {
    const job = { id: 'j1', status: 'FAILED', error: 'invalid image URL' };
    expect(read('submit', status, job)).toEqual({ status, body: 'failed', job });
  });

  it('is answered by a FAILED body without an id', () => {
    expect(read('submit', 400, { status: 'FAILED', error: 'no' })).toMatchObject({
      body: 'failed',
      job: { error: 'no' },
    });
  });

  it('is answered by a known state under an error status, not by an unknown one', () => {
    expect(read('submit', 500, { id: 'j1', status: 'COMPLETED' })).toMatchObject({ body: 'job' });
    expect(read('submit', 500, { id: 'request-7', status: 'error' })).toMatchObject({ body: 'unreadable' });
    expect(read('submit', 500, { id: 'request-7' })).toMatchObject({ body: 'unreadable' });
  });

  it.each([
    ['nothing', ''],
    ['HTML', '<html><body>502</body></html>'],
    ['cut JSON', '{"id":"j1","sta'],
    ['NaN', '{"id":"j1","status":"COMPLETED","output":{"cost":NaN}}'],
    ['null', 'null'],
    ['a list', '[]'],
    ['text', '"ok"'],
    ['no id', '{"status":"IN_QUEUE"}'],
    ['an empty id', '{"id":"","status":"IN_QUEUE"}'],
    ['an id that is not text', '{"id":7,"status":"IN_QUEUE"}'],
  ])('is malformed when a success holds %s', (_what, body) => {
    const reading = read('submit', 200, body);
    expect(reading).toMatchObject({ body: 'unreadable', status: 200 });
    expect(errorOf(reading)).toBeInstanceOf(MalformedReplyError);
    expect(errorOf(reading).message).toContain('POST /v2/x/run: HTTP 200: not readable as an accepted job');
  });

  it('reads past a byte order mark', () => {
    expect(read('submit', 200, '\uFEFF{"id":"j1","status":"IN_QUEUE"}')).toMatchObject({ body: 'job' });
  });
});

describe('a poll', () => {
  it('takes the id for granted when the reply leaves it out', () => {
    expect(read('poll', 200, { status: 'IN_PROGRESS' }, 'j1')).toMatchObject({
      body: 'job',
      job: { id: 'j1' },
    });
  });

  it.each(['IN_PROGRESS', 'FAILED'])(
    'is malformed when it tells of another job (%s) [fault 13]',
    (status) => {
      const reading = read('poll', 200, { id: 'other', status }, 'j1');
      expect(errorOf(reading)).toBeInstanceOf(MalformedReplyError);
      expect(errorOf(reading).message).toContain('the job that was asked for');
    },
  );

  it('is malformed without a state', () => {
    expect(errorOf(read('poll', 200, { id: 'j1' }, 'j1'))).toBeInstanceOf(MalformedReplyError);
  });
});

describe('a route', () => {
  it.each([[{ a: 1 }], [[1]], [null], [0], [false], ['text'], [{ status: 'FAILED' }]])(
    'answers %j',
    (value) => {
      expect(read('route-post', 200, JSON.stringify(value))).toEqual({ status: 200, body: 'value', value });
    },
  );

  it('answers with an error and its detail', () => {
    const reading = read('route-get', 422, { error: 'bad width', detail: 'must be even' });
    expect(reading).toMatchObject({ body: 'error', status: 422 });
    expect(errorOf(reading)).toMatchObject({ detail: 'must be even', httpStatus: 422 });
    expect(errorOf(reading).message).toBe('GET /v2/x/run: HTTP 422: bad width');
  });

  it.each([{ message: 'Bad gateway' }, { error: null }, { error: '' }, 'Bad gateway', ['error']])(
    'does not answer by %j',
    (body) => {
      expect(read('route-post', 502, body)).toMatchObject({ body: 'unreadable' });
    },
  );

  it('may have no worker yet', () => {
    expect(read('route-get', 400, { error: 'no workers available' })).toMatchObject({ body: 'no-workers' });
  });

  it('is malformed when a success is no JSON', () => {
    expect(errorOf(read('route-get', 200, 'hello'))).toBeInstanceOf(MalformedReplyError);
  });
});

describe('health', () => {
  it('is any JSON', () => {
    expect(read('health', 200, { jobs: {} })).toEqual({ status: 200, body: 'value', value: { jobs: {} } });
  });
});

describe('the error of a status', () => {
  it.each([
    [400, BadRequestError, 'bad-request'],
    [401, UnauthorizedError, 'unauthorized'],
    [403, UnauthorizedError, 'unauthorized'],
    [404, NotFoundError, 'not-found'],
    [429, RateLimitedError, 'rate-limited'],
    [500, ServerError, 'server-error'],
    [503, ServerError, 'server-error'],
    [302, RedirectError, 'redirect'],
    [418, UnexpectedStatusError, 'unexpected-status'],
  ])('%i is its own class', (status, type, code) => {
    const error = errorOf(read('submit', status, { message: 'said so' }));
    expect(error).toBeInstanceOf(type);
    expect(isMillraceError(error)).toBe(true);
    expect(error).toMatchObject({ code, httpStatus: status, name: type.name });
    expect(error.message).toMatch(/^POST \/v2\/x\/run: HTTP \d+: (said so|redirects are not followed)$/);
  });

  it.each([
    ['https://login.example.test/in?next=%2Fv2', ' to https://login.example.test'],
    ['/elsewhere', ' to https://'],
    ['http://', ''],
  ])('names the host that a redirect to %s leads to', (location, words) => {
    const { message } = errorOf(read('submit', 307, '', undefined, { location }));
    expect(message).toContain(`HTTP 307${words}`);
    expect(message).not.toContain('next');
    expect(message).toMatch(/: redirects are not followed$/);
  });

  it('carries the wait that the service asks for', () => {
    const reading = read('submit', 429, '', undefined, { 'retry-after': '7' });
    expect(reading).toMatchObject({ retryAfterMs: 7_000, error: { retryAfterMs: 7_000 } });
    expect(errorOf(reading).message).toContain('an empty body');
  });

  it('unfolds an error that is itself JSON', () => {
    const error = JSON.stringify({
      error_type: "<class 'ValueError'>",
      error_message: 'no width',
      error_traceback: 'at 1',
    });
    expect(errorOf(read('submit', 500, { error }))).toMatchObject({
      message: 'POST /v2/x/run: HTTP 500: ValueError: no width',
      detail: 'at 1',
    });
  });

  it('quotes 200 characters of a body that is no JSON [fault 3]', () => {
    const { message } = errorOf(read('submit', 500, 'x'.repeat(5_000)));
    expect(message).toBe(`POST /v2/x/run: HTTP 500: ${'x'.repeat(200)}`);
  });
});

describe('a service that echoes the key', () => {
  it.each([
    ['submit', 500, `it failed for Bearer ${key} today`],
    ['submit', 500, `${'x'.repeat(190)}${key}`],
    ['submit', 200, `<p>${key}</p>`],
    [
      'submit',
      200,
      { id: 'j1', status: 'COMPLETED', output: { headers: { authorization: `Bearer ${key}` } } },
    ],
    ['submit', 400, { id: 'j1', status: 'FAILED', error: `key ${key}` }],
    ['route-post', 200, { headers: [key] }],
    ['route-post', 500, { error: key, detail: key }],
    ['poll', 404, { error: key }],
  ] as const)('is masked: %s, HTTP %i, %j', (purpose, status, body) => {
    const reading = read(purpose, status, body);
    expect(inspect(reading, { depth: 20, showHidden: true })).not.toContain(key.slice(0, 12));
  });
});

describe('a reply that is nested deeper than 1,000 levels', () => {
  const deep = '{"a":'.repeat(5_000) + '1' + '}'.repeat(5_000);

  it('is a job with its id and state, and its output as text', () => {
    const body = `{"id":"j","status":"COMPLETED","output":${deep}}`;
    const job = { id: 'j', status: 'COMPLETED', output: deep };
    expect(read('submit', 200, body)).toMatchObject({ body: 'job', job });
    expect(read('poll', 200, body, 'j')).toMatchObject({ body: 'job', job });
    expect(read('submit', 400, `{"id":"j","status":"FAILED","error":${deep}}`)).toMatchObject({
      body: 'failed',
      job: { id: 'j', error: deep },
    });
  });

  it('is the answer of a route as text, and its error', () => {
    expect(read('route-post', 200, deep)).toMatchObject({ body: 'value', value: deep });
    const failed = read('route-post', 500, `{"error":"no","detail":${deep}}`);
    expect(failed).toMatchObject({ body: 'error' });
    expect(errorOf(failed).message).toContain('no');
  });

  it('is a chunk as text, and the other chunks as they are', () => {
    const reading = read(
      'stream',
      200,
      `{"status":"COMPLETED","stream":[{"output":${deep}},{"output":[1]}]}`,
    );
    expect(reading).toMatchObject({ chunks: { status: 'COMPLETED', stream: [deep, [1]] } });
  });

  it('is a message, also where the error is JSON in a text', () => {
    const error = JSON.stringify(`{"error_message":${deep}}`);
    expect(errorOf(read('submit', 500, `{"error":${error}}`)).message).toContain('{\"a\":');
  });
});

describe('a key that the service echoes', () => {
  it('is masked before anything is cut', () => {
    const filler = 'x'.repeat(185);
    for (const spelled of [key, key.replace(/./g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)]) {
      const { message } = errorOf(read('submit', 502, `${filler}${spelled}`));
      expect(message).not.toContain(key.slice(0, 6));
      expect(message).not.toContain('u0063');
      expect(message).toContain('[redacted');
    }
  });
});
