import { filter, map, merge, of, startWith, takeWhile, timer, type Observable } from 'rxjs';
import { isEnded, type CardState } from '../messages.js';
import type { Order } from './compose-orders.js';
import type { Told } from './connect.js';

/** How an order stands, from its sending to its end. */
export function followOrder(
  { card }: Order,
  { told$, sent$ }: { told$: Observable<Told>; sent$: Observable<string | undefined> },
): Observable<CardState> {
  const told = told$.pipe(
    filter((told) => told.type === 'card'),
    filter((message) => message.card === card),
    map(({ state }) => state),
  );
  const lost = told$.pipe(
    filter(({ type }) => type === 'lost'),
    map(() => failed('The connection to the server broke, which cancels the job.')),
  );
  const refused = sent$.pipe(
    filter((problem) => problem !== undefined),
    map(failed),
  );
  return merge(told, lost, refused).pipe(
    startWith<CardState>({ stage: 'sending' }),
    takeWhile((state) => !isEnded(state), true),
  );
}

/** The same state ten times a second while it lasts, for clocks. */
export function ticking(state: CardState): Observable<CardState> {
  return isEnded(state) ? of(state) : timer(0, 100).pipe(map(() => state));
}

function failed(words: string): CardState {
  return { stage: 'failed', words };
}
