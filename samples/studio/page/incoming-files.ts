import { debounceTime, filter, fromEvent, map, merge, tap, type Observable } from 'rxjs';

/** Files by whatever way: dropped anywhere on the page, chosen, pasted. */
export function incomingFiles(input: HTMLInputElement): Observable<readonly File[]> {
  const dropped = fromEvent<DragEvent>(document, 'drop').pipe(
    tap((event) => event.preventDefault()),
    map(({ dataTransfer }) => dataTransfer),
  );
  const pasted = fromEvent<ClipboardEvent>(document, 'paste').pipe(map(({ clipboardData }) => clipboardData));
  const chosen = fromEvent(input, 'change').pipe(
    map(() => [...(input.files ?? [])]),
    // The same file may be chosen again.
    tap(() => (input.value = '')),
  );
  return merge(merge(dropped, pasted).pipe(map((data) => [...(data?.files ?? [])])), chosen).pipe(
    filter((files) => files.length > 0),
  );
}

/** Whether something is held over the page. Browsers tell of it again and again, and not when it leaves. */
export function dragging(): Observable<boolean> {
  const over = fromEvent<DragEvent>(document, 'dragover').pipe(tap((event) => event.preventDefault()));
  return merge(
    over.pipe(map(() => true)),
    merge(over.pipe(debounceTime(200)), fromEvent(document, 'drop')).pipe(map(() => false)),
  );
}
