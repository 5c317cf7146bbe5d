import { Observable, share } from 'rxjs';
import type { Message } from '../messages.js';

export type Told = Message | { readonly type: 'lost' };

/**
 * What the server tells this page. One stream for all jobs: a browser opens six connections to a host and no more. When it
 * breaks, the server has cancelled what was under way; the browser connects again, as another page to the server.
 */
export function connect(): Observable<Told> {
  return new Observable<Told>((subscriber) => {
    const source = new EventSource('events');
    source.addEventListener('message', ({ data }: MessageEvent<string>) => {
      const message: Message = JSON.parse(data);
      subscriber.next(message);
    });
    source.addEventListener('error', () => subscriber.next({ type: 'lost' }));
    return () => source.close();
  }).pipe(share());
}
