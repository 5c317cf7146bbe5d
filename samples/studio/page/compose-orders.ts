import { combineLatest, defer, filter, fromEvent, map, merge, type Observable, of, Subject, tap } from 'rxjs';
import { formatUsd } from '../messages.js';
import { choosePictures, type Chosen } from './choose-pictures.js';
import { h, part } from './page-elements.js';
import { dragging, incomingFiles } from './incoming-files.js';

/** One picture to be edited: one job, one card. */
export interface Order {
  readonly card: string;
  readonly picture: Chosen;
  readonly prompt: string;
  readonly resolution: string;
}

/** The form: emits an order for each chosen picture when it is sent. */
export function composeOrders(isConnected: () => boolean): Observable<readonly Order[]> {
  const form = part('order', HTMLFormElement);
  const prompt = part('prompt', HTMLTextAreaElement);
  const input = part('files', HTMLInputElement);
  const problem = part('problem', HTMLParagraphElement);
  const { chosen$, problem$ } = choosePictures(part('tray', HTMLUListElement), incomingFiles(input));
  const resolution$ = drawResolutions(part('resolutions', HTMLDivElement));
  const missing$ = new Subject<string>();
  dragging().subscribe((isHeld) => document.body.classList.toggle('dragging', isHeld));

  combineLatest([chosen$, resolution$]).subscribe(([{ length }, resolution]) => {
    const price = formatUsd(Math.max(length, 1) * (pricesUsd[resolution] ?? 0));
    const what = length === 0 ? 'Edit' : length === 1 ? 'Edit 1 picture' : `Edit ${length} pictures`;
    part('send', HTMLButtonElement).textContent = length === 0 ? what : `${what} for ${price}`;
  });
  const problemText$ = merge(
    problem$,
    missing$,
    merge(fromEvent(form, 'input'), chosen$).pipe(map(() => '')),
  );
  problemText$.subscribe((words) => (problem.textContent = words));

  const lacks = (): [words: string, place?: HTMLElement] => {
    if (!isConnected()) return ['The server cannot be reached. Start it, or wait a moment.'];
    if (chosen$.value.length === 0) return ['Choose a picture first.', input];
    return prompt.value.trim() === '' ? ['Say what should become of the picture.', prompt] : [''];
  };
  const quickly = fromEvent<KeyboardEvent>(prompt, 'keydown').pipe(
    filter(({ key, ctrlKey, metaKey }) => key === 'Enter' && (ctrlKey || metaKey)),
  );
  quickly.subscribe(() => form.requestSubmit());
  return fromEvent(form, 'submit').pipe(
    tap((event) => event.preventDefault()),
    filter(() => {
      const [words, place] = lacks();
      missing$.next(words);
      place?.focus();
      return words === '';
    }),
    map(() => {
      const resolution = chosenResolution(form);
      const words = { prompt: prompt.value.trim(), resolution };
      return chosen$.value.map((picture) => ({ card: crypto.randomUUID(), picture, ...words }));
    }),
    // An empty tray: sending the form again must not buy the same again.
    tap(() => chosen$.next([])),
  );
}

function drawResolutions(place: HTMLElement): Observable<string> {
  for (const [name, price] of Object.entries(pricesUsd)) {
    const id = `resolution-${name}`;
    const input = h('input', { type: 'radio', name: 'resolution', value: name, id, class: 'unseen' });
    input.checked = name === '1k';
    place.append(input, h('label', { for: id }, h('b', {}, name), ' ', h('span', {}, formatUsd(price))));
  }
  const read = (): string => chosenResolution(place);
  return merge(
    defer(() => of(read())),
    fromEvent(place, 'change').pipe(map(read)),
  );
}

function chosenResolution(place: HTMLElement): string {
  return place.querySelector<HTMLInputElement>('[name=resolution]:checked')?.value ?? '1k';
}

/** Put in when the page is bundled: resolution → USD. */
declare const PRICES_USD: Record<string, number>;

const pricesUsd: Readonly<Record<string, number>> = PRICES_USD;
