import { Observable, type Observer, type Subscription } from 'rxjs';

/**
 * Subscribes with a subscriber that is added to `owner` before the source emits anything. So a source that emits while it is
 * being subscribed, such as an endless one, is left as soon as `owner` is unsubscribed; adding the subscription afterwards
 * would be too late. If `owner` is closed, nothing is subscribed.
 */
export function subscribeWithin<T>(
  owner: Subscription,
  source: Observable<T>,
  observer: Partial<Observer<T>>,
): Subscription {
  return new Observable<T>((subscriber) => {
    owner.add(subscriber);
    if (!subscriber.closed) source.subscribe(subscriber);
  }).subscribe(observer);
}
