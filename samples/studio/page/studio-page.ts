import {
  BehaviorSubject,
  concatAll,
  from,
  fromEvent,
  mergeMap,
  ReplaySubject,
  shareReplay,
  Subject,
  switchMap,
  take,
  takeUntil,
  tap,
  type Observable,
} from 'rxjs';
import type { CardState } from '../messages.js';
import { composeOrders, type Order } from './compose-orders.js';
import { connect, followOrder, ticking } from './follow-order.js';
import { part } from './page-elements.js';
import { drawCard } from './draw-card.js';
import { closeOrder, sendOrder } from './send-order.js';
import { showMoney } from './show-money.js';

const wall = part('wall', HTMLUListElement);
const empty = part('empty', HTMLParagraphElement);
const connection = part('connection', HTMLParagraphElement);
const messages$ = connect();

const tab$ = new BehaviorSubject<string | undefined>(undefined);

messages$.subscribe((message) => {
  if (message.type === 'money') showMoney(part('money', HTMLDivElement), message.money);
  if (message.type !== 'hello' && message.type !== 'lost') return;
  connection.textContent = message.type === 'hello' ? 'Connected' : 'Disconnected';
  connection.classList.toggle('lost', message.type === 'lost');
  tab$.next(message.type === 'hello' ? message.tab : undefined);
});

/** Orders go one after the other, so that they stand in the service's queue as they stand on the page. */
const sends$ = new Subject<Observable<unknown>>();
sends$.pipe(concatAll()).subscribe();

composeOrders(() => tab$.value !== undefined)
  .pipe(
    mergeMap((orders) => from(orders)),
    mergeMap((order) => work(order, tab$.value ?? '')),
  )
  .subscribe();

/** The life of one card, until it is closed. */
function work(order: Order, tab: string): Observable<CardState> {
  const card = drawCard(order);
  const closed$ = fromEvent(card.close, 'click').pipe(take(1), shareReplay(1));
  const sent$ = new ReplaySubject<string | undefined>(1);
  sends$.next(sendOrder(tab, order, closed$).pipe(tap(sent$)));
  wall.prepend(card.element);
  empty.hidden = true;
  // An order that is still on its way is closed when it has arrived.
  closed$.pipe(switchMap(() => sent$)).subscribe(() => closeOrder(tab, order));
  closed$.subscribe(() => {
    const next = card.element.nextElementSibling ?? card.element.previousElementSibling;
    card.element.remove();
    empty.hidden = wall.children.length > 0;
    (next?.querySelector<HTMLElement>('.close') ?? part('prompt', HTMLTextAreaElement)).focus();
    URL.revokeObjectURL(order.picture.url);
  });
  return followOrder(order, { messages$, sent$ }).pipe(
    tap((state) => {
      const { name } = order.picture.file;
      part('told', HTMLParagraphElement).textContent = `${name}: ${state.phase}`;
    }),
    switchMap(ticking),
    tap((state) => card.show(state)),
    takeUntil(closed$),
  );
}
