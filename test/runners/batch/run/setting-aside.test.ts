import { Subject } from 'rxjs';
import { expect, it } from 'vitest';
import { settingAside } from '../../../../runners/batch/context/setting-aside.js';
import { Stops } from '../../../../runners/batch/stop/stops.js';
import { stopCauses } from '../../../../runners/batch/stop/stop-causes.js';

async function* from<T>(tasks: Iterable<T>): AsyncGenerator<T> {
  yield* await Promise.resolve(tasks);
}

it('emits what may start, and what was set aside once it may, in its order', async () => {
  const changes = new Subject<void>();
  const waiting = new Set(['b']);
  const mayStart = (task: string) => !waiting.has(task.charAt(0));
  const tasks = settingAside(from(['a1', 'b1', 'a2', 'b2', 'a3']), { mayStart, changes, stops: new Stops() });
  const next = async () => (await tasks.next()).value;
  expect([await next(), await next()]).toEqual(['a1', 'a2']);
  waiting.clear();
  expect([await next(), await next(), await next()]).toEqual(['b1', 'b2', 'a3']);
  expect(await next()).toBeUndefined();
});

it('waits for a change when only tasks that are aside are left, and ends with the run', async () => {
  const changes = new Subject<void>();
  let isReady = false;
  const stops = new Stops();
  const tasks = settingAside(from([1, 2]), { mayStart: () => isReady, changes, stops });
  const first = tasks.next();
  await new Promise((resolve) => setImmediate(resolve));
  isReady = true;
  changes.next();
  expect(await first).toEqual({ done: false, value: 1 });
  isReady = false;
  const second = tasks.next();
  stops.stop(stopCauses.interrupted('graceful', 130));
  expect(await second).toEqual({ done: true, value: undefined });
});

it('keeps a thousand aside, and leaves the tasks behind them', async () => {
  let taken = 0;
  const endless = (async function* () {
    for (;;) yield await Promise.resolve((taken += 1));
  })();
  const stops = new Stops();
  const tasks = settingAside(endless, { mayStart: () => false, changes: new Subject(), stops });
  const next = tasks.next();
  for (let turn = 0; turn < 100 && taken < 1_000; turn++)
    await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(taken).toBe(1_000);
  stops.stop(stopCauses.interrupted('graceful', 130));
  expect((await next).done).toBe(true);
});

it('errors as the tasks do', async () => {
  const failing = (async function* () {
    yield await Promise.resolve(1);
    throw new Error('the disk');
  })();
  const tasks = settingAside(failing, {
    mayStart: () => true,
    changes: new Subject(),
    stops: new Stops(),
  });
  await tasks.next();
  await expect(tasks.next()).rejects.toThrow('the disk');
});
