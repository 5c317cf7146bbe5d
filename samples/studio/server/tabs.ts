import { randomUUID } from 'node:crypto';
import {
  catchError,
  concat,
  distinctUntilChanged,
  filter,
  finalize,
  map,
  merge,
  mergeMap,
  of,
  scan,
  Subject,
  takeUntil,
  withLatestFrom,
  type Observable,
} from 'rxjs';
import { limits, type CardState, type Message } from '../messages.js';
import { cardState } from './card-state.js';
import type { Shop } from './open-shop.js';
import type { PictureShelf } from './served-pictures.js';
import type { Order } from './read-order.js';

interface Tab {
  readonly orders$: Subject<Order>;
  readonly closings$: Subject<string>;
  readonly cards: Set<string>;
}

/** The pages that are open. What a page ordered lives as long as somebody listens to its messages. */
export class Tabs {
  readonly #open = new Map<string, Tab>();
  readonly #closed$ = new Subject<void>();

  constructor(
    private readonly shop: Shop,
    private readonly shelf: PictureShelf,
  ) {}

  get isFull(): boolean {
    return this.#open.size >= limits.tabs;
  }

  /** The messages to one page. Unsubscribing closes the page: each of its jobs is cancelled. */
  open(): Observable<Message> {
    const id = randomUUID();
    const tab: Tab = { orders$: new Subject(), closings$: new Subject(), cards: new Set() };
    this.#open.set(id, tab);
    const hello: Message = { type: 'hello', tab: id };
    const money = this.shop.money$.pipe(map((now): Message => ({ type: 'money', money: now })));
    const cards = tab.orders$.pipe(mergeMap((order) => this.#card(tab, order)));
    return concat(of(hello), merge(money, cards)).pipe(
      takeUntil(this.#closed$),
      finalize(() => this.#open.delete(id)),
    );
  }

  /** @returns what stands against it, in words, or `undefined` */
  order(tabId: string, order: Order): string | undefined {
    const tab = this.#open.get(tabId);
    if (tab === undefined) return 'This page is not connected to the server any more. Load it again.';
    if (tab.cards.has(order.card)) return 'This order has come already.';
    if (tab.cards.size >= limits.jobs)
      return `${limits.jobs} jobs are under way, and more are not taken. Wait for one, or close one.`;
    tab.orders$.next(order);
    return undefined;
  }

  closeCard(tabId: string, card: string): void {
    this.#open.get(tabId)?.closings$.next(card);
  }

  close(): void {
    this.#closed$.next();
  }

  #card(tab: Tab, { card, prompt, resolution, picture }: Order): Observable<Message> {
    const name = this.shelf.put(picture);
    const full: CardState = {
      phase: 'failed',
      words: 'Too many pictures are waiting. Try again in a while.',
    };
    if (name === undefined) return of({ type: 'card', card, state: full });
    tab.cards.add(card);
    return this.shop.buy({ images: [this.shelf.urlOf(name)], prompt, resolution }).pipe(
      withLatestFrom(this.shop.money$),
      scan((before: CardState, [event, money]) => cardState(event, { before, resolution, money }), {
        phase: 'sending',
      }),
      catchError((error: unknown) => of<CardState>({ phase: 'failed', words: `Not sent: ${String(error)}` })),
      distinctUntilChanged((one, other) => JSON.stringify(one) === JSON.stringify(other)),
      map((state): Message => ({ type: 'card', card, state })),
      takeUntil(tab.closings$.pipe(filter((closed) => closed === card))),
      finalize(() => {
        tab.cards.delete(card);
        this.shelf.remove(name);
      }),
    );
  }
}
