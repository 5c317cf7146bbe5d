import { Subscription, type TeardownLogic } from 'rxjs';

type Teardown = Exclude<TeardownLogic, void>;

/**
 * A subscription with one teardown at a time, which is the usual case, kept without a list. The list of rxjs has room for
 * seventeen, which takes 184 bytes for each subscription of a waiting job.
 */
export class OneTeardown extends Subscription {
  private only: Teardown | undefined;

  override add(teardown: TeardownLogic): void {
    if (!teardown || this.closed || teardown === this) return super.add(teardown);
    if (teardown === this.only || isOver(teardown)) return;
    if (this.only === undefined || isOver(this.only)) this.only = teardown;
    else super.add(teardown);
  }

  override remove(teardown: Teardown): void {
    if (this.only === teardown) this.only = undefined;
    else super.remove(teardown);
  }

  override unsubscribe(): void {
    if (this.closed) return;
    const { only } = this;
    this.only = undefined;
    try {
      super.unsubscribe();
    } finally {
      if (typeof only === 'function') only();
      else only?.unsubscribe();
    }
  }
}

function isOver(teardown: Teardown): boolean {
  return teardown instanceof Subscription && teardown.closed;
}
