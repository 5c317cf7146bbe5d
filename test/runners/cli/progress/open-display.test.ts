import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { OutStream } from '../../../../runners/cli/io/cli-io.js';
import { openDisplay } from '../../../../runners/cli/progress/open-display.js';
import type { ProgressView } from '../../../../runners/cli/progress/progress-view.js';

const view: ProgressView = {
  rows: 4,
  others: 0,
  endedBefore: 0,
  completed: 0,
  failed: 0,
  unknown: 0,
  undownloaded: 0,
  inFlight: 0,
  sending: 0,
  accepted: 0,
  queued: 0,
  isQueueOld: false,
  working: 0,
  saving: 0,
  concurrency: 8,
  rowsPerMinute: undefined,
  leftMs: undefined,
  money: { spent: 0, unknown: 0 },
  stillMs: 0,
  cause: undefined,
  stopping: false,
};

/** A stream that keeps what is written, and whose width can change. */
function paper(isTTY: boolean, columns = 80) {
  const listeners = new Set<() => void>();
  const stream = {
    isTTY,
    columns,
    text: '',
    write(text: string) {
      stream.text += text;
      return true;
    },
    on: (_: 'resize', listener: () => void) => void listeners.add(listener),
    off: (_: 'resize', listener: () => void) => void listeners.delete(listener),
    resize(to: number) {
      stream.columns = to;
      for (const listener of listeners) listener();
    },
    listeners,
  };
  return stream satisfies OutStream;
}

const env = { LANG: 'C.UTF-8', TERM: 'xterm' };

describe('openDisplay', () => {
  it('writes a plain line every 30 s into a log, and one at the end', () => {
    const scheduler = new TestScheduler(() => undefined);
    const stream = paper(false);
    scheduler.run(() => {
      const display = openDisplay({ stream, env, quiet: false, scheduler, view: () => view });
      scheduler.schedule(() => display.close(), 70_000);
    });
    expect(stream.text).toBe('0 of 4 rows: 0 completed, 0 in flight; $0.00 spent\n'.repeat(3));
  });

  it('stays off the terminal of one who asked for quiet', () => {
    const scheduler = new TestScheduler(() => undefined);
    const stream = paper(true);
    scheduler.run(() => {
      const display = openDisplay({ stream, env, quiet: true, scheduler, view: () => view });
      display.note('a price has changed');
      scheduler.schedule(() => display.close(), 70_000);
    });
    expect(stream.text).toBe('a price has changed\n');
  });

  it('redraws only what has changed, and takes itself away at the end', () => {
    const scheduler = new TestScheduler(() => undefined);
    const stream = paper(true);
    scheduler.run(() => {
      const display = openDisplay({
        stream,
        env: { ...env, NO_COLOR: '1' },
        quiet: false,
        scheduler,
        view: (at) => ({ ...view, completed: at < 5_000 ? 1 : 2 }),
      });
      scheduler.schedule(() => display.close(), 10_000);
    });
    expect(stream.text.split('1 completed')).toHaveLength(2);
    expect(stream.text.split('2 completed')).toHaveLength(2);
    expect(stream.text.endsWith('\r\u001b[3A\u001b[J')).toBe(true);
    expect(stream.listeners.size).toBe(0);
  });

  it('puts notes above what is redrawn', () => {
    const scheduler = new TestScheduler(() => undefined);
    const stream = paper(true);
    scheduler.run(() => {
      const display = openDisplay({
        stream,
        env: { ...env, NO_COLOR: '1' },
        quiet: false,
        scheduler,
        view: () => view,
      });
      stream.text = '';
      display.note('a price has changed');
      expect(stream.text).toMatch(/^\r\u001b\[3Aa price has changed\u001b\[K\n0 of 4 rows/);
      display.close();
    });
  });

  it('moves up over lines that a narrower terminal has wrapped', () => {
    const scheduler = new TestScheduler(() => undefined);
    const stream = paper(true);
    scheduler.run(() => {
      const display = openDisplay({
        stream,
        env: { ...env, NO_COLOR: '1' },
        quiet: false,
        scheduler,
        view: () => view,
      });
      stream.text = '';
      stream.resize(30);
      expect(stream.text).toMatch(/^\r\u001b\[5A/);
      display.close();
    });
  });

  it('draws nothing by control characters on a dumb terminal', () => {
    const scheduler = new TestScheduler(() => undefined);
    const stream = paper(true);
    scheduler.run(() =>
      openDisplay({ stream, env: { TERM: 'dumb' }, quiet: false, scheduler, view: () => view }).close(),
    );
    expect(stream.text).not.toContain('\u001b');
  });

  it('takes a terminal that says 0 columns for one of the usual width', () => {
    const scheduler = new TestScheduler(() => undefined);
    const stream = paper(true, 0);
    scheduler.run(() => {
      const display = openDisplay({ stream, env, quiet: false, scheduler, view: () => view });
      display.note('a line that stays');
      scheduler.schedule(() => display.close(), 1_000);
    });
    expect(stream.text).not.toContain('Infinity');
    expect(stream.text).toContain('0 of 4 rows');
  });
});
