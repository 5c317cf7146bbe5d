import { describe, expect, it } from 'vitest';
import type { StopSignal } from '../../../../runners/cli/io/cli-io.js';
import { listenForStop, type SignalOrder } from '../../../../runners/cli/io/listen-for-stop.js';

function listen() {
  const listeners = new Set<(signal: StopSignal) => void>();
  const stop = listenForStop({
    onStop(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  return { stop, listeners, send: (signal: StopSignal) => listeners.forEach((listener) => listener(signal)) };
}

describe('listenForStop', () => {
  it('asks to stop in good order first, then at once, with the exit code of the signal', () => {
    const { stop, send } = listen();
    const orders: SignalOrder[] = [];
    stop.orders$.subscribe((order) => orders.push(order));
    expect(stop.first.aborted).toBe(false);
    send('SIGTERM');
    expect(stop.first.aborted).toBe(true);
    send('SIGINT');
    send('SIGINT');
    expect(orders).toEqual([
      { how: 'graceful', exitCode: 143 },
      { how: 'now', exitCode: 130 },
      { how: 'now', exitCode: 130 },
    ]);
  });

  it('is not hurried by a terminal that is closed, however often that is said [fault 16]', () => {
    const { stop, send } = listen();
    const orders: SignalOrder[] = [];
    stop.orders$.subscribe((order) => orders.push(order));
    for (let times = 0; times < 3; times += 1) send('SIGHUP');
    send('SIGTERM');
    expect(orders).toEqual([
      { how: 'graceful', exitCode: 129 },
      { how: 'now', exitCode: 143 },
    ]);
    expect(stop.exitCode()).toBe(129);
  });

  it('tells one who listens late', () => {
    const { stop, send } = listen();
    send('SIGINT');
    const orders: SignalOrder[] = [];
    stop.orders$.subscribe((order) => orders.push(order));
    expect(orders).toEqual([{ how: 'graceful', exitCode: 130 }]);
  });

  it('leaves signals alone once it is closed', () => {
    const { stop, listeners } = listen();
    stop.close();
    expect(listeners.size).toBe(0);
  });
});
