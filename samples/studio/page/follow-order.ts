import { filter, map, merge, Observable, of, share, startWith, takeWhile, timer } from 'rxjs';
import { type CardState, isEnded, type Message } from '../messages.js';
import type { Order } from './compose-orders.js';

type ServerMessage = Message | { readonly type: 'lost' };

/**
 * What the server tells this page. One stream for all jobs: a browser opens six connections to a host and no more. When it
 * breaks, the server has cancelled what was under way; the browser connects again, as another page to the server.
 */
export function connect(): Observable<ServerMessage> {
  return new Observable<ServerMessage>((subscriber) => {
    const source = new EventSource('events');
    source.addEventListener('message', ({ data }: MessageEvent<string>) => {
      const message: Message = JSON.parse(data);
      subscriber.next(message);
    });
    source.addEventListener('error', () => subscriber.next({ type: 'lost' }));
    return () => source.close();
  }).pipe(share());
}

/** How an order stands, from its sending to its end. */
export function followOrder(
  { card }: Order,
  { messages$, sent$ }: { messages$: Observable<ServerMessage>; sent$: Observable<string | undefined> },
): Observable<CardState> {
  const states = messages$.pipe(
    filter((message) => message.type === 'card'),
    filter((message) => message.card === card),
    map(({ state }) => state),
  );
  const lost = messages$.pipe(
    filter(({ type }) => type === 'lost'),
    map(() => failed('The connection to the server broke, which cancels the job.')),
  );
  const refused = sent$.pipe(
    filter((problem) => problem !== undefined),
    map(failed),
  );
  return merge(states, lost, refused).pipe(
    startWith<CardState>({ phase: 'sending' }),
    takeWhile((state) => !isEnded(state), true),
  );
}

/** The same state ten times a second while it lasts, for clocks. */
export function ticking(state: CardState): Observable<CardState> {
  return isEnded(state) ? of(state) : timer(0, 100).pipe(map(() => state));
}

function failed(words: string): CardState {
  return { phase: 'failed', words };
}
