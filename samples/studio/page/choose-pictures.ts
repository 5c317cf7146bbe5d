import { BehaviorSubject, concatMap, from, mergeMap, Subject, type Observable } from 'rxjs';
import { limits } from '../messages.js';
import { pictureType } from '../uploaded-type.js';
import { h } from './page-elements.js';

/** A picture in the tray, and later beside its result. */
export interface Chosen {
  readonly file: File;
  /** Shows it on this page; nobody else can read it. */
  readonly url: string;
}

export interface Tray {
  readonly chosen$: BehaviorSubject<readonly Chosen[]>;
  readonly problem$: Observable<string>;
}

/** Keeps what is a picture by its bytes, and draws it with a button that takes it out again. */
export function choosePictures(list: HTMLElement, files$: Observable<readonly File[]>): Tray {
  const chosen$ = new BehaviorSubject<readonly Chosen[]>([]);
  const problem$ = new Subject<string>();
  files$
    .pipe(
      mergeMap((files) => from(files)),
      concatMap(check),
    )
    .subscribe(({ file, problem }) => {
      if (problem !== undefined) return problem$.next(problem);
      if (chosen$.value.length >= limits.jobs)
        return problem$.next(`${limits.jobs} pictures at once; ${file.name} was left out.`);
      chosen$.next([...chosen$.value, { file, url: URL.createObjectURL(file) }]);
    });
  const takeOut = (one: Chosen): void => {
    URL.revokeObjectURL(one.url);
    chosen$.next(chosen$.value.filter((other) => other !== one));
    (list.querySelector('button') ?? document.getElementById('files'))?.focus();
  };
  chosen$.subscribe((chosen) => list.replaceChildren(...chosen.map((one) => draw(one, takeOut))));
  return { chosen$, problem$ };
}

async function check(file: File): Promise<{ file: File; problem?: string }> {
  if (file.size > limits.pictureBytes)
    return { file, problem: `${file.name} is too large: ${limits.pictureBytes / 1e6} MB is the most.` };
  const head = await file
    .slice(0, 16)
    .arrayBuffer()
    .catch(() => undefined);
  if (head === undefined) return { file, problem: `${file.name} cannot be read.` };
  return pictureType(new Uint8Array(head)) === undefined
    ? { file, problem: `${file.name} is not a picture: PNG, JPEG, WebP and GIF can be edited.` }
    : { file };
}

function draw(one: Chosen, takeOut: (one: Chosen) => void): HTMLElement {
  const { name } = one.file;
  return h(
    'li',
    { title: name },
    h('img', { src: one.url, alt: name }),
    h('button', { type: 'button', 'aria-label': `Leave out ${name}`, click: () => takeOut(one) }, '×'),
  );
}
