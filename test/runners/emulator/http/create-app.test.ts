import { afterEach, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../../../runners/emulator/index.js';
import { asking } from '../../../support/ask-emulator.js';

let emulator: Emulator;

afterEach(() => emulator.close());

it('answers what goes wrong in itself as 500 with {error, detail}', async () => {
  emulator = await startEmulator({ faultOf: () => 'no such fault' });
  expect(await asking(emulator).get('/v2/echo/health')).toMatchObject({
    status: 500,
    json: {
      error: 'internal server error',
      detail: expect.stringMatching(/has an unknown fault "no such fault"/),
    },
  });
});

it('answers 401 before it says whether a path exists', async () => {
  emulator = await startEmulator();
  expect((await fetch(`${emulator.baseUrl}/v2/none/run`, { method: 'POST' })).status).toBe(401);
  expect((await asking(emulator).get('/v2/none/health')).status).toBe(404);
});
