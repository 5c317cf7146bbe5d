import { Subscription, type TeardownLogic } from 'rxjs';

type Teardown = Exclude<TeardownLogic, void>;

/**
 * A subscription with one teardown at a time or two, which is the usual case, kept without a list. The list of rxjs has room for
 * seventeen, which takes 184 bytes for each subscription of a waiting job.
 */
export class OneTeardown extends Subscription {
  private only: Teardown | undefined;
  /** Called before the other one. */
  private second: Teardown | undefined;

  override add(teardown: TeardownLogic): void {
    if (!teardown || this.closed || teardown === this) return super.add(teardown);
    if (teardown === this.only || teardown === this.second || isOver(teardown)) return;
    if (this.only === undefined || isOver(this.only)) this.only = teardown;
    else if (this.second === undefined || isOver(this.second)) this.second = teardown;
    else super.add(teardown);
  }

  override remove(teardown: Teardown): void {
    if (this.only === teardown) this.only = undefined;
    else if (this.second === teardown) this.second = undefined;
    else super.remove(teardown);
  }

  override unsubscribe(): void {
    if (this.closed) return;
    const { only, second } = this;
    this.only = undefined;
    this.second = undefined;
    try {
      super.unsubscribe();
    } finally {
      try {
        tearDown(second);
      } finally {
        tearDown(only);
      }
    }
  }
}

function tearDown(teardown: Teardown | undefined): void {
  if (typeof teardown === 'function') teardown();
  else teardown?.unsubscribe();
}

function isOver(teardown: Teardown): boolean {
  return teardown instanceof Subscription && teardown.closed;
}
