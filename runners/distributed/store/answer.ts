import type { ReplyRecord } from '../../batch/journal/record.js';
import type { WorkData, WorkKind } from '../records/work-queue.js';
import type { ReportedPrice } from '../records/ledger-record.js';
import type { Ending } from '../records/row-record.js';

/** The result of a work item. `attempt` fences it: it counts only for the POST that it belongs to. */
export type Answer =
  /** The service accepted it under this job id, which is polled from now on. */
  | (Fenced & { readonly is: 'accepted'; readonly jobId: string; readonly pollInMs: number })
  /** Provably not accepted: the row is sent again. `tried`: a POST was refused; otherwise none was sent. */
  | (Fenced & { readonly is: 'refused'; readonly afterMs: number; readonly tried: boolean })
  /** Provably not accepted, and not sent again in this start. */
  | (Fenced & { readonly is: 'left' })
  | (Fenced & {
      readonly is: 'ended';
      readonly ending: Ending;
      /** It may have been accepted, and is sent again all the same. */
      readonly sendAgain?: boolean;
      readonly price?: ReportedPrice;
    })
  /** Completed; a worker has to save its picture. */
  | (Fenced & { readonly is: 'paid'; readonly reply: ReplyRecord; readonly price?: ReportedPrice })
  /** An answer came that the database refuses: the row ends as unknown, for this reason. */
  | (Fenced & { readonly is: 'lost'; readonly message: string })
  /** Nothing new: another item of the same kind follows. */
  | {
      readonly is: 'again';
      readonly kind: Exclude<WorkKind, 'submit'>;
      readonly item: string;
      readonly afterMs: number;
      readonly data: WorkData;
    }
  /** Its row has moved on: the item is dropped. */
  | { readonly is: 'stale'; readonly kind: WorkKind; readonly item: string };

interface Fenced {
  readonly item: string;
  readonly attempt: number;
}
