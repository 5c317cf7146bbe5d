import { EMPTY, Observable, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { flow, type Step, type Steps } from '../../../src/operators/flow.js';
import { SharedExecution } from '../../../src/operators/shared-execution.js';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { events } from '../../support/job-events.js';
import { inVirtualTime } from '../../support/virtual-time.js';

type Event = JobEvent<string>;

function* playing(stream: Observable<Event>): Steps<Event> {
  yield stream;
}

/** An execution that plays these steps again each time it is resumed. */
const opened = (play: (execution: SharedExecution<Event>) => Step<Event> | Steps<Event>) => {
  const emitted: Event[] = [];
  const left: number[] = [];
  const execution = new SharedExecution<Event>({
    resume: (run) =>
      void flow(() => {
        const steps = play(execution);
        return Symbol.iterator in steps ? steps : [steps];
      }).subscribe(run),
    replay: 1,
    emitted: (event) => emitted.push(event),
    left: () => left.push(left.length),
  });
  const shown = new Observable<Event>((subscriber) => execution.join(subscriber));
  return { execution, emitted, left, events: shown };
};

describe('SharedExecution', () => {
  it('plays to all at once, reports each event once, and says when the last has left', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const play = cold<Event>('s-a-q', events);
      const { events: shown, emitted, left } = opened(() => play);
      expectObservable(shown, '^--!').toBe('s-a', events);
      expectObservable(shown, '-^---!').toBe('-sa-q', events);
      expectSubscriptions(play.subscriptions).toBe('^----!');
      flush();
      expect(emitted).toStrictEqual([events.s, events.a, events.q]);
      expect(left).toHaveLength(1);
    });
  });

  it('runs once for all, also for who comes late, with the last event first', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Event>('-s-a-q|', events);
      const { events: shown } = opened(() => source);
      expectObservable(shown).toBe('-s-a-q|', events);
      expectObservable(shown, '--^-!').toBe('--sa', events);
      expectSubscriptions(source.subscriptions).toBe('^-----!');
    });
  });

  it('gives a subscriber who comes back the last event, then resumes', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Event>('-q', events);
      const { events: shown } = opened(() => source);
      expectObservable(shown, '^-!').toBe('-q', events);
      expectObservable(shown, '----^--!').toBe('----qq', events);
      expectSubscriptions(source.subscriptions).toBe(['^-!', '----^--!']);
    });
  });

  it('leaves a source that emits at once as soon as nobody is there', () => {
    const sent: string[] = [];
    const source = new Observable<Event>((subscriber) => {
      for (const event of [events.s, events.a, events.q]) {
        if (subscriber.closed) return;
        sent.push(event.type);
        subscriber.next(event);
      }
    });
    const execution = new SharedExecution<Event>({
      resume: (run) => void source.subscribe(run),
      replay: 1,
    });
    const shown = new Observable<Event>((subscriber) => execution.join(subscriber));
    shown.pipe(take(1)).subscribe();
    expect(sent).toStrictEqual(['submitting']);
  });

  it('emits to the subscribers of that moment, whoever joins or leaves meanwhile', () => {
    inVirtualTime(({ cold, flush }) => {
      const { events: shown } = opened(() => cold<Event>('-s-a-|', events));
      const first: string[] = [];
      const second: string[] = [];
      const late: string[] = [];
      shown.subscribe(({ type }) => {
        first.push(type);
        if (type !== 'submitting') return;
        other.unsubscribe();
        shown.subscribe((event) => late.push(event.type));
      });
      const other = shown.subscribe(({ type }) => second.push(type));
      flush();
      const both = ['submitting', 'accepted'];
      expect({ first, second, late }).toStrictEqual({ first: both, second: [], late: both });
    });
  });

  it('runs a critical section to its end without subscribers, and joins who comes back into it', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const section = cold<Event>('-s---a|', events);
      let played = false;
      const {
        events: shown,
        emitted,
        left,
      } = opened((execution) => {
        if (played) return EMPTY;
        played = true;
        return execution.critical(playing(section));
      });
      expectObservable(shown, '^--!').toBe('-s', events);
      expectObservable(shown, '----^').toBe('----sa|', events);
      expectSubscriptions(section.subscriptions).toBe('^-----!');
      flush();
      expect(emitted).toStrictEqual([events.s, events.a]);
      expect(left).toHaveLength(1);
    });
  });

  it('stops behind a critical section without subscribers', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const section = cold<Event>('-s---a|', events);
      const behind = cold<Event>('q', events);
      let isOver = false;
      const { events: shown, left } = opened(function* (execution): Steps<Event> {
        if (!isOver) yield* execution.critical(playing(section));
        isOver = true;
        yield behind;
      });
      expectObservable(shown, '^--!').toBe('-s', events);
      expectSubscriptions(section.subscriptions).toBe('^-----!');
      expectSubscriptions(behind.subscriptions).toBe([]);
      flush();
      expect(left).toHaveLength(2);
    });
  });

  it('joins a critical section that began at the end of another one', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const sections = [cold<Event>('-s-|', events), cold<Event>('-a-q|', events)] as const;
      const { events: shown } = opened(function* (execution): Steps<Event> {
        for (const section of sections) yield* execution.critical(playing(section));
      });
      expectObservable(shown, '^---!').toBe('-s--', events);
      expectObservable(shown, '-----^').toBe('-----aq|', events);
      expectSubscriptions(sections[1].subscriptions).toBe('---^---!');
    });
  });

  it('runs a section without subscribers, unless one is on', () => {
    inVirtualTime(({ cold, flush, expectSubscriptions }) => {
      const [first, second] = [cold<Event>('-s-a|', events), cold<Event>('-f|', events)];
      const { execution, emitted } = opened(() => EMPTY);
      execution.runAlone(() => playing(first));
      execution.runAlone(() => playing(second));
      expectSubscriptions(first.subscriptions).toBe('^---!');
      expectSubscriptions(second.subscriptions).toBe([]);
      flush();
      expect(emitted).toStrictEqual([events.s, events.a]);
    });
  });

  it('keeps the error of a critical section, for good', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      let openings = 0;
      const { events: shown } = opened((execution) => {
        openings += 1;
        return execution.critical(playing(cold<Event>('-s-#', events)));
      });
      expectObservable(shown, '^--!').toBe('-s', events);
      expectObservable(shown, '-----^').toBe('-----#');
      flush();
      expect(openings).toBe(1);
    });
  });

  it('gives another error to all, and resumes for who comes after it', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Event>('-#');
      const { events: shown } = opened(() => source);
      expectObservable(shown).toBe('-#');
      expectObservable(shown).toBe('-#');
      expectObservable(shown, '---^').toBe('----#');
      expectSubscriptions(source.subscriptions).toBe(['^!', '---^!']);
    });
  });

  it('ends empty and goes on never', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      expectObservable(opened(() => EMPTY).events).toBe('|');
      expectObservable(opened(() => cold('-')).events).toBe('-');
    });
  });
});
