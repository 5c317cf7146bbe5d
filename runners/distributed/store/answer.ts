import type { ReplyRecord } from '../../batch/journal/record.js';
import type { PieceData, PieceKind } from '../records/work-queue.js';
import type { ReportedPrice } from '../records/ledger-record.js';
import type { Ending } from '../records/row-record.js';

/** What came of a piece. `attempt` fences it: it counts only for the POST that it belongs to. */
export type Answer =
  /** The service has a job, and it is asked for later. */
  | (Fenced & { readonly is: 'accepted'; readonly jobId: string; readonly pollInMs: number })
  /** Provably not accepted: the row is to be sent still. `tried`: a POST was refused; else none left. */
  | (Fenced & { readonly is: 'refused'; readonly afterMs: number; readonly tried: boolean })
  /** Provably not accepted, and not sent again in this start. */
  | (Fenced & { readonly is: 'left' })
  | (Fenced & {
      readonly is: 'ended';
      readonly ending: Ending;
      /** In doubt, and sent again all the same. */
      readonly sendAgain?: boolean;
      readonly price?: ReportedPrice;
    })
  /** Completed, and its picture is to be saved by a worker. */
  | (Fenced & { readonly is: 'paid'; readonly reply: ReplyRecord; readonly price?: ReportedPrice })
  /** Nothing new: another piece of the same kind follows. */
  | {
      readonly is: 'again';
      readonly kind: Exclude<PieceKind, 'submit'>;
      readonly piece: string;
      readonly afterMs: number;
      readonly data: PieceData;
    }
  /** Its row has moved on: the piece is dropped. */
  | { readonly is: 'stale'; readonly kind: PieceKind; readonly piece: string };

interface Fenced {
  readonly piece: string;
  readonly attempt: number;
}
