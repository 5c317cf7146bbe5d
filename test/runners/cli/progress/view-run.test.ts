import { of } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../../runners/batch/context/run-event.js';
import type { CliIo } from '../../../../runners/cli/io/cli-io.js';
import { viewRun, type RunView } from '../../../../runners/cli/progress/view-run.js';

const started = { type: 'started', rowsTotal: 4, alreadyEnded: 0 } as RunEvent;

/** What stands on stderr after `act`, on a log. */
function seen(quiet: boolean, act: (view: RunView, scheduler: TestScheduler) => void): string {
  const scheduler = new TestScheduler(() => undefined);
  let text = '';
  const stderr = { write: (chunk: string) => void (text += chunk) };
  scheduler.run(() => {
    const io = { stderr, env: {}, scheduler } as unknown as CliIo;
    act(viewRun(io, { concurrency: 8, quiet, askHealth: () => of('no worker is up') }), scheduler);
  });
  return text;
}

describe('viewRun', () => {
  it('tells warnings and the reason of a stop, each once, and where it stands at the end', () => {
    const text = seen(false, (view) => {
      view.look(started);
      view.look({ type: 'warning', code: 'price', message: 'a price has\u001b[2J changed' });
      view.look({ type: 'stopping', exitCode: 5, reason: 'too many rows failed' });
      view.close();
      view.close();
    });
    expect(text).toBe(
      'warning: a price has changed\nstopping: too many rows failed\n0 of 4 rows: 0 completed, 0 in flight; $0.00 spent; stopping\n',
    );
  });

  it('tells only warnings when it is to be quiet', () => {
    const text = seen(true, (view) => {
      view.look(started);
      view.look({ type: 'warning', code: 'price', message: 'a price has changed' });
      view.look({ type: 'warning', code: 'grown', message: 'rows wait for the next start' });
      view.look({ type: 'stopping', exitCode: 5, reason: 'too many rows failed' });
      view.close();
    });
    expect(text).toBe('warning: a price has changed\n');
  });

  it('tells who interrupts what is waited for, and how not to', () => {
    const stopping: RunEvent = { type: 'stopping', exitCode: 130, reason: 'Interrupted.' };
    const text = seen(false, (view) => {
      view.look({ type: 'row', id: 'a', row: 1, event: { type: 'accepted', jobId: 'j' } });
      view.look(stopping);
      view.look(stopping);
      view.pause();
    });
    expect(text).toBe(
      'stopping: Interrupted. Replies on their way are paid for and awaited. Ctrl-C again stops now, and leaves their rows in doubt.\nstopping: Interrupted. Not waiting any longer.\n',
    );
  });

  it('promises no waiting where nothing has been sent, as at the question', () => {
    const text = seen(false, (view) => {
      view.look({ type: 'stopping', exitCode: 143, reason: 'Interrupted.' });
      view.pause();
    });
    expect(text).toBe('stopping: Interrupted.\n');
  });

  it('writes nothing of a run that was not started', () => {
    expect(seen(false, (view) => view.pause())).toBe('');
  });

  it('says what the service says of a queue that does not move', () => {
    const text = seen(false, (view, scheduler) => {
      view.look(started);
      view.look({ type: 'row', id: 'a', row: 1, event: { type: 'accepted', jobId: 'j' } });
      scheduler.schedule(() => view.close(), 61_000);
    });
    expect(text.split('\n')[1]).toContain('no job seen to begin or end for 60 s; no worker is up');
  });
});
