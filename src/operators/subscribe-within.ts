import { Observable, type Observer, type Subscription } from 'rxjs';

/**
 * Subscribes with a subscriber that ends with `owner`, and that belongs to it before the source emits anything: a source
 * that emits while it is being subscribed, an endless one for instance, is left as soon as its owner is unsubscribed. A
 * subscription that is added afterwards would come too late. With an owner that is closed nothing is subscribed.
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
