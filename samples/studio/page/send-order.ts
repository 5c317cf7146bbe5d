import { catchError, filter, merge, mergeMap, of, take, type Observable } from 'rxjs';
import type { Order } from './compose-orders.js';

/**
 * Sends an order and emits what stands against it, in words, or `undefined` when it was taken. What is closed before its
 * turn is never sent; what is on its way arrives.
 */
export function sendOrder(
  tab: string,
  { card, picture, prompt, resolution }: Order,
  closed$: Observable<unknown>,
): Observable<string | undefined> {
  return merge(closed$, of(undefined)).pipe(
    take(1),
    filter((closed) => closed === undefined),
    mergeMap(() => {
      const body = new FormData();
      for (const [name, value] of Object.entries({ card, prompt, resolution })) body.set(name, value);
      body.set('picture', picture.file);
      return post(`tabs/${tab}/cards`, body);
    }),
    catchError(() => of('The picture did not get to the server. Choose it again.')),
  );
}

async function post(address: string, body: FormData): Promise<string | undefined> {
  const response = await fetch(address, { method: 'POST', body });
  if (response.ok) return undefined;
  const { problem } = await response.json().catch(() => ({ problem: 'The server did not take the order.' }));
  return String(problem);
}

/** The card is closed: its job is to be cancelled. */
export function closeOrder(tab: string, { card }: Order): void {
  fetch(`tabs/${tab}/cards/${card}`, { method: 'DELETE', keepalive: true }).catch(() => undefined);
}
