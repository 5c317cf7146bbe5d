import type { IncomingMessage } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { startEmulator } from '../../../../runners/emulator/index.js';
import { asking } from '../../../support/ask-emulator.js';
import { bodyOf, serveHttp } from '../../../support/loopback-server.js';
import { manualClock } from '../../../support/manual-clock.js';
import { until as waitUntil } from '../../../support/until.js';

/** An emulator whose jobs have this fault, and what their webhook was sent. */
async function calledBack(fault: string, statusOf: (call: number) => number = () => 200) {
  const clock = manualClock();
  const emulator = await startEmulator({
    clock,
    faultOf: ({ operation }) => (operation === 'run' ? fault : ''),
  });
  onTestFinished(() => emulator.close());
  const calls: { path: string | undefined; id: unknown; at: number }[] = [];
  const server = await serveHttp((request: IncomingMessage, response) => {
    void bodyOf(request).then((body) => {
      const { id } = JSON.parse(body) as { id: unknown };
      calls.push({ path: request.url, id, at: clock.now() });
      response.writeHead(statusOf(calls.length)).end();
    });
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const ask = asking(emulator);
  const run = () => ask.run('echo', { a: 1 }, { webhook: `${server.url}/token` });
  return { ...ask, clock, calls, run };
}

const paths = (calls: { path: string | undefined }[]) => calls.map(({ path }) => path);

it('callback-never calls nobody', async () => {
  const { run, until, calls, clock } = await calledBack('callback-never');
  await run();
  await until('echo', { completed: 1 });
  await clock.advance(60_000);
  expect(calls).toEqual([]);
});

it('callback-late calls later', async () => {
  const { run, until, calls, clock } = await calledBack('callback-late:5s');
  await run();
  await until('echo', { completed: 1 });
  await waitUntil(() => clock.pending() > 0);
  const { length: before } = calls;
  await clock.advance(5_000);
  await waitUntil(() => calls.length === 1);
  expect(before).toBe(0);
});

it('callback-twice calls again after a 2xx', async () => {
  const { run, calls } = await calledBack('callback-twice');
  const id = await run();
  await waitUntil(() => calls.length === 2);
  expect(calls.map((call) => call.id)).toEqual([id, id]);
});

it('callback-forged and callback-wrong-id call falsely before they call', async () => {
  const { run, calls } = await calledBack('callback-forged,callback-wrong-id');
  const id = await run();
  await waitUntil(() => calls.length === 3);
  expect(paths(calls)).toEqual(['/tokeA', '/token', '/token']);
  expect(calls.map((call) => call.id)).toEqual([id, 'another-job-u1', id]);
});

it('callback-first calls before /run is answered', async () => {
  const { run, calls } = await calledBack('callback-first');
  const id = await run();
  expect(calls).toMatchObject([{ path: '/token', id }]);
});
