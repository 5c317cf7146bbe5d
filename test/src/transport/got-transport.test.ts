import nock from 'nock';
import { firstValueFrom } from 'rxjs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import { phaseTimeouts, wireHeaders, type WireRequest } from '../../../src/transport/transport.js';
import { TransportError } from '../../../src/transport/transport-error.js';

const timeouts = phaseTimeouts(10_000);

function post(url: string, body = '{"input":{"a":1}}'): WireRequest {
  return { method: 'POST', url, headers: wireHeaders('KEY', true), body, timeouts, paid: true };
}

function get(url: string): WireRequest {
  return { method: 'GET', url, headers: wireHeaders('KEY', false), timeouts, paid: false };
}

describe('the exact wire', () => {
  beforeAll(() => {
    nock.disableNetConnect();
  });
  afterEach(() => {
    nock.cleanAll();
  });
  afterAll(() => {
    nock.enableNetConnect();
    nock.restore();
  });

  it('is a POST with the key, the content type and the body as it was given', async () => {
    const sent: Record<string, unknown> = {};
    nock('https://api.example')
      .post('/v2/ep/run')
      .reply(function (path, body) {
        Object.assign(sent, { path, body, headers: this.req.headers });
        return [200, '{"id":"j","status":"IN_QUEUE"}'];
      });
    const reply = await firstValueFrom(createGotTransport()(post('https://api.example/v2/ep/run')));
    expect(reply).toMatchObject({ status: 200, body: '{"id":"j","status":"IN_QUEUE"}' });
    expect(sent).toEqual({
      path: '/v2/ep/run',
      body: { input: { a: 1 } },
      headers: {
        host: 'api.example',
        connection: expect.any(String) as unknown,
        accept: 'application/json',
        'accept-encoding': 'gzip, deflate, br',
        authorization: 'Bearer KEY',
        'content-length': '17',
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/^millrace\/\d+\.\d+\.\d+$/) as unknown,
      },
    });
  });

  it('is a GET with the key and no content type', async () => {
    const sent: Record<string, unknown> = {};
    nock('https://api.example')
      .get('/v2/ep/status/a%2Fb')
      .reply(function (path) {
        Object.assign(sent, { path, names: Object.keys(this.req.headers).sort() });
        return [200, '{}'];
      });
    await firstValueFrom(createGotTransport()(get('https://api.example/v2/ep/status/a%2Fb')));
    expect(sent).toEqual({
      path: '/v2/ep/status/a%2Fb',
      names: ['accept', 'accept-encoding', 'authorization', 'connection', 'host', 'user-agent'],
    });
  });

  it.each(['ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN'])(
    'was never used when the error is %s',
    async (code) => {
      nock('https://api.example')
        .post('/')
        .replyWithError(Object.assign(new Error('broken'), { code }));
      const fault = firstValueFrom(createGotTransport()(post('https://api.example/')));
      await expect(fault).rejects.toBeInstanceOf(TransportError);
      await expect(fault).rejects.toMatchObject({ sent: 'no', systemCode: code });
    },
  );

  it.each(['ECONNRESET', 'EPIPE', 'EHOSTDOWN', undefined])(
    'may have been used when the error is %s',
    async (code) => {
      nock('https://api.example')
        .post('/')
        .replyWithError(Object.assign(new Error('broken'), { code }));
      const fault = firstValueFrom(createGotTransport()(post('https://api.example/')));
      await expect(fault).rejects.toMatchObject({ sent: 'maybe', phase: 'reset' });
    },
  );

  it('is tried once', async () => {
    nock('https://api.example').get('/').reply(503, '').get('/').reply(200, '{}');
    const reply = await firstValueFrom(createGotTransport()(get('https://api.example/')));
    expect(reply.status).toBe(503);
    expect(nock.pendingMocks()).toHaveLength(1);
  });
});
