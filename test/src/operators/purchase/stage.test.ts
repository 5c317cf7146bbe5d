import { concat, defer, EMPTY } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../../src/contract/outcome.js';
import type { Step } from '../../../../src/operators/in-turn.js';
import { joinedByAll } from '../../../../src/operators/purchase/joined-by-all.js';
import { Stage } from '../../../../src/operators/purchase/stage.js';
import { events } from '../../../support/job-events.js';
import { inVirtualTime } from '../../../support/virtual-time.js';

/** A stage that plays these events again at every opening. */
const opened = (play: (stage: Stage<string>) => Step<JobEvent<string>>) => {
  const told: JobEvent<string>[] = [];
  const left: number[] = [];
  const stage = new Stage<string>((event) => told.push(event));
  const open = () =>
    joinedByAll(
      stage.open(
        () => [play(stage)],
        () => left.push(left.length),
      ),
    );
  return { stage, told, left, events: open() };
};

describe('Stage', () => {
  it('plays to all at once, tells of each event once, and says when the last has left', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const play = cold<JobEvent<string>>('s-a-q', events);
      const { events: shown, told, left } = opened((stage) => stage.noted(play));
      expectObservable(shown, '^--!').toBe('s-a', events);
      expectObservable(shown, '-^---!').toBe('-sa-q', events);
      expectSubscriptions(play.subscriptions).toBe('^----!');
      flush();
      expect(told).toStrictEqual([events.s, events.a, events.q]);
      expect(left).toHaveLength(1);
    });
  });

  it('tells who comes back the last event, then plays on', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const { events: shown } = opened((stage) => stage.noted(cold<JobEvent<string>>('-q', events)));
      expectObservable(shown, '^-!').toBe('-q', events);
      expectObservable(shown, '----^').toBe('----qq', events);
    });
  });

  it('plays a scene to its end before an empty house, and joins who comes back into it', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const scene = cold<JobEvent<string>>('-s---a|', events);
      let played = false;
      const { events: shown, told } = opened((stage) => {
        if (played) return EMPTY;
        played = true;
        return stage.uninterrupted(scene);
      });
      expectObservable(shown, '^--!').toBe('-s', events);
      expectObservable(shown, '----^').toBe('----sa|', events);
      expectSubscriptions(scene.subscriptions).toBe('^-----!');
      flush();
      expect(told).toStrictEqual([events.s, events.a]);
    });
  });

  it('joins a scene that began at the end of another one', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const scenes = [cold<JobEvent<string>>('-s-|', events), cold<JobEvent<string>>('-a-q|', events)];
      let next = 0;
      const { events: shown } = opened((stage) => {
        const [first, second] = scenes.slice(next++ * 2);
        if (first === undefined || second === undefined) return EMPTY;
        return concat(
          defer(() => stage.uninterrupted(first)),
          defer(() => stage.uninterrupted(second)),
        );
      });
      expectObservable(shown, '^---!').toBe('-s--', events);
      expectObservable(shown, '-----^').toBe('-----aq|', events);
      expectSubscriptions(scenes[1]!.subscriptions).toBe('---^---!');
    });
  });

  it('joins the scene that is on instead of beginning another', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const other = cold<JobEvent<string>>('-f|', events);
      const { events: shown } = opened((stage) => {
        const first = stage.uninterrupted(cold<JobEvent<string>>('-s-a|', events));
        expect(stage.uninterrupted(other)).toBe(first);
        return first;
      });
      expectObservable(shown).toBe('-s-a|', events);
      expectSubscriptions(other.subscriptions).toBe([]);
    });
  });

  it('keeps the error of a scene, for good', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      let openings = 0;
      const { events: shown } = opened((stage) => {
        openings += 1;
        return stage.uninterrupted(cold<JobEvent<string>>('-s-#', events));
      });
      expectObservable(shown, '^--!').toBe('-s', events);
      expectObservable(shown, '-----^').toBe('-----#');
      flush();
      expect(openings).toBe(1);
    });
  });

  it('does not keep the error of a wait', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const { events: shown } = opened((stage) => stage.noted(cold<JobEvent<string>>('-#')));
      expectObservable(shown).toBe('-#');
      expectObservable(shown, '---^').toBe('----#');
    });
  });

  it('ends empty and goes on never', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      expectObservable(opened(() => EMPTY).events).toBe('|');
      expectObservable(opened(() => cold('-')).events).toBe('-');
    });
  });
});
