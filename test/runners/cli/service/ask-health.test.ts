import { lastValueFrom, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../../../runners/emulator/index.js';
import { askHealth } from '../../../../runners/cli/service/check-service.js';
import type { Target } from '../../../../runners/cli/service/service-settings.js';
import { openGate } from '../../../../src/policy/gates/built-in-gates.js';

describe('askHealth', () => {
  let emulator: Emulator;
  let target: Target;
  beforeEach(async () => {
    emulator = await startEmulator({ workers: 2 });
    const { baseUrl, apiKey } = emulator;
    target = { baseUrl, apiKey, local: false, close: () => Promise.resolve() };
  });
  afterEach(() => emulator.close());
  const ask = (endpoints: string[], at = target) =>
    lastValueFrom(askHealth(at, endpoints, openGate()).pipe(toArray()));

  it('tells what the service says of the endpoints that rows are sent to', async () => {
    expect(await ask(['echo', 'image-edit'])).toEqual([
      'the service says echo: 0 of 2 workers busy, 0 jobs in its queue; image-edit: 0 of 2 workers busy, 0 jobs in its queue',
    ]);
  });

  it('asks nobody where no job is sent', async () => {
    expect(await ask([])).toEqual([]);
  });

  it('fails where the service does not answer it', async () => {
    await expect(ask(['nobody'])).rejects.toThrow();
  });
});
