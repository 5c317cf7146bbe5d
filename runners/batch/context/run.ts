import type { Plan } from '../manifest/plan-manifest.js';
import type { Ahead } from '../start/check/ahead.js';
import type { Taken } from '../start/take-up.js';
import type { LearnedPolling } from './learned-polling.js';
import type { PurchaseContext } from './purchase-context.js';
import type { ResolvedOptions } from './resolved-options.js';

/** A run that is held by this process, checked and open: what its stages share. */
export interface Run extends PurchaseContext {
  /**
   * What the run was started with, checked and filled in.
   * @hidden its fields are those of `RunBatchOptions`, where they are described
   */
  readonly options: ResolvedOptions;
  readonly plan: Plan;
  readonly ahead: Ahead;
  readonly taken: Taken;
  /** Rows of the manifest that earlier starts left unfinished: `limit` does not count them. */
  readonly pending: ReadonlySet<string>;
  /** When to ask for jobs. */
  readonly polling: LearnedPolling;
  /** The folder of pictures is gone, and pictures of earlier starts were in it. */
  readonly lostPictures: boolean;
  readonly startedAt: number;
}
