import { Stops, type StopCause } from '../../batch/stop/stops.js';

interface Stopping {
  /** What a cause that arises here leads to. */
  readonly judge: (cause: StopCause) => StopCause;
  readonly stopping: () => void;
}

/** Stops of a worker's part in a run: causes that arise here are judged first, orders are obeyed as they are. */
export class WorkerStops extends Stops {
  constructor(private readonly parts: Stopping) {
    super();
  }

  override stop(cause: StopCause): boolean {
    return this.order(this.parts.judge(cause));
  }

  order(cause: StopCause): boolean {
    this.parts.stopping();
    return super.stop(cause);
  }
}
