import type { Observable, SchedulerLike } from 'rxjs';
import type { Gate } from '../../../src/policy/gates/gate.js';
import type { PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import type { Download } from '../../../src/transport/got/download.js';
import type { Transport } from '../../../src/transport/transport.js';
import type { MakeThumbnail } from '../artifacts/write-thumbnail.js';
import type { Disk } from '../disk/disk.js';
import type { Journal } from '../journal/journal.js';
import type { RunIdentity } from '../journal/record.js';
import type { DayLedger } from '../ledger/day-ledger.js';
import type { WarnAt } from '../ledger/cap-watch.js';
import type { Ledger, LedgerOptions } from '../ledger/ledger.js';
import type { PriceBook } from '../ledger/price-book.js';
import type { RunHold } from '../lock/hold-run.js';
import type { PictureHost } from '../uploads/picture-host.js';
import type { ManifestSettings } from '../manifest/manifest-settings.js';
import type { FailureLine } from '../sinks/failure-line.js';
import type { ResultLine } from '../sinks/result-line.js';
import type { Plan } from '../manifest/plan-manifest.js';
import type { Ahead } from '../start/check/ahead.js';
import type { PricedBytes } from '../tasks/priced-bytes.js';
import type { HandOn, OpenCallbackPort } from './callback-port.js';

/** A stop from outside. `graceful`: paid replies on their way are awaited. `now`: nothing is; the run can be gone on with all the same. */
export type StopOrder =
  | 'graceful'
  | 'now'
  | {
      readonly how: 'graceful' | 'now';
      /** What the run ends with: 130 after SIGINT, 143 after SIGTERM, 129 after SIGHUP. @defaultValue 130 */
      readonly exitCode?: number;
    };

/** What a run does, and with what. Durations in ms, money in USD. */
export interface RunBatchOptions {
  /**
   * A file by its path: format and gzip follow from its name unless they are given. Or `rows`, processed as they arrive from
   * an array, an async generator or a Node stream, without a limit: objects as in JSONL, or lines of it. Each is checked by
   * itself. An invalid row becomes a failure, and a row that comes again is recognised by its id, in all starts.
   */
  readonly manifest: (
    | {
        readonly path: string;
        /** What an earlier reading found in the file: the run buys of these bytes alone, or stops. @defaultValue what its own check finds */
        readonly bytes?: PricedBytes;
        /**
         * Where the run keeps the file: once the start is agreed to, `move` puts it there, and it is read there from then on.
         * @defaultValue it stays at `path`
         */
        readonly keep?: {
          /** The file from then on. */
          readonly path: string;
          /** Moves the file there. */
          readonly move: () => Promise<void>;
        };
      }
    | { readonly rows: AsyncIterable<unknown> | Iterable<unknown> }
  ) &
    Partial<ManifestSettings>;
  /**
   * Called once for each row that has ended, with its line of results.jsonl or failures.jsonl, after that is written. With
   * `rows` it is also called for a row that comes again and ended in an earlier start. The row keeps its slot until a
   * returned promise resolves, so a slow callback slows the run.
   */
  readonly deliver?: (line: ResultLine | FailureLine) => void | PromiseLike<void>;
  /** The output folder, and so the run: the same one goes on where the last start ended. */
  readonly out: string;
  /** What must be the same at every start. @defaultValue the hosts, not local */
  readonly identity?: RunIdentity;
  /** {base_url} of queue and image-edit endpoints. */
  readonly baseUrl?: string;
  /** {lb_base_url} of routes. */
  readonly lbBaseUrl?: string;
  readonly apiKey?: string;
  /**
   * Rows in flight, from before their POST until their reply, or a failure, is durable. `auto` finds out how many the
   * service takes, from 4 to 100. @defaultValue `auto` where rows go to /run, else 8
   */
  readonly concurrency?: number | 'auto';
  /** Pictures being saved at a time; at most four times as many wait, then rows are held back. @defaultValue 4 */
  readonly downloads?: number;
  /**
   * Requests a second to the service, downloads not counted; `runpod`: what the live service publishes for each kind.
   * @defaultValue found out, once a request was refused with 429
   */
  readonly rate?: number | 'runpod';
  /**
   * From when a row's job is taken up to its end; waiting for the rate counts. A row with an id that reaches it is polled first at
   * the next start. A paid POST on the wire is the one request that is awaited beyond it, for the request's own time limits (a
   * minute; of /runsync `runsyncTimeoutMs`): its answer may name the job. @defaultValue 3_600_000
   */
  readonly timeoutMs?: number;
  /** Client timeout of /runsync. (spec 8) @defaultValue 60_000 */
  readonly runsyncTimeoutMs?: number;
  /** The same by endpoint id, where it is another. */
  readonly executionTimeoutsMs?: Readonly<Record<string, number>>;
  /** Extra tries of what is safe to try again. @defaultValue 4 */
  readonly retries?: number;
  /**
   * Takes callbacks of the service for rows that go to /run, so that they need no polls. `url`: where the service reaches this process,
   * through a proxy that ends TLS for one. `host` and `port`: where it listens; port 0 is a free one. @defaultValue none are taken
   */
  readonly webhooks?: {
    /** @defaultValue the address where it listens */
    readonly url?: string;
    /** @defaultValue 127.0.0.1 */
    readonly host?: string;
    /** @defaultValue 8787 */
    readonly port?: number;
    /** Opens the server that callbacks come to. @defaultValue one of `node:http` at `host` and `port` */
    readonly open?: OpenCallbackPort;
    /** Takes callbacks about rows that another process may have. @defaultValue there is no other process */
    readonly handOn?: HandOn;
  };
  /**
   * Rows that go to /run wait at the service behind all jobs that do not say so (`policy.lowPriority`). It is not a part of what a row
   * asks for: another start may say otherwise. @defaultValue false
   */
  readonly lowPriority?: boolean;
  /** What one status call is worth, in ms of lag: a larger value polls less and notices ends later. @defaultValue 190 */
  readonly pollCostMs?: number;
  /** A request that may have been accepted: held as `unknown`, or sent again at the risk of paying twice. @defaultValue 'hold' */
  readonly onUnknown?: 'hold' | 'retry';
  /** Failures of earlier starts that are taken up: codes, or `failed` (all that were not paid), `unknown`, `expired`, `all`. @defaultValue download, deadline */
  readonly retry?: readonly string[];
  /** Completed rows that have changed since: kept and named, or bought again. @defaultValue 'keep' */
  readonly changed?: 'keep' | 'redo';
  /** Rows that ask for exactly what another row asks for, under another id: counted in `ahead.same`, or the run is refused. @defaultValue 'warn' */
  readonly same?: 'warn' | 'refuse';
  /** The highest number of rows to send; a later start continues. */
  readonly limit?: number;
  /** Sends these rows alone: ids, and `column=value` for all rows with that value in a column of the user's own. */
  readonly only?: readonly string[];
  /** Invalid rows become failures instead of keeping the run from starting. @defaultValue false */
  readonly skipInvalid?: boolean;
  /**
   * The rows of a manifest at another path, none of whose ids the run knows, belong to the run all the same. The run
   * remembers it by the manifest's path. Without it such a start is refused; `rows` that arrive never are. @defaultValue false
   */
  readonly add?: boolean;
  /** Saves pictures; else they are left at their URLs. @defaultValue true */
  readonly download?: boolean;
  /**
   * Paths into the output of a job whose files are saved beside the row's picture: `output.video_url`, `output.images[].url`. The run
   * remembers it: `undefined` keeps what it remembers, `null` ends it; rows that had completed before are taken up for files
   * that were not asked for then. @defaultValue what the run remembers
   */
  readonly saveOutput?: readonly string[] | null;
  /**
   * Reserved, spent and unknown money never go beyond it, over all starts. The run remembers it: `undefined` keeps what
   * it remembers, `null` lifts the cap. @defaultValue what the run remembers, then `defaultMaxCostUsd`
   */
  readonly maxCostUsd?: number | null;
  /** The same where neither this start nor the run says anything; not remembered. @defaultValue no cap */
  readonly defaultMaxCostUsd?: number;
  /**
   * Adds up money and rows by the values of these columns: the user's own, or `kind`, `endpoint`, `resolution`. The run
   * remembers it: `undefined` keeps what it remembers, `null` ends it. @defaultValue what the run remembers
   */
  readonly costBy?: readonly string[] | null;
  /**
   * By column, the most that is reserved, spent and unknown for the rows of any one value of it. A row that does not fit stays to be
   * done, others go on. The run remembers it: `undefined` keeps what it remembers, `null` lifts the cap of a column, or all.
   * @defaultValue what the run remembers
   */
  readonly maxCostByUsd?: Readonly<Record<string, number | null>> | null;
  /** Reserved and spent money of all runs that share `ledgerFile` never go beyond it within a rolling 24 hours. @defaultValue no cap */
  readonly maxCostPerDayUsd?: number;
  /** Warns once of each cap above of which so much is spent, reserved or in doubt; without a cap the start is refused. @defaultValue no warning */
  readonly warnAt?: WarnAt;
  /** The ledger that runs share. Needed by `maxCostPerDayUsd`; without that the run only books what it spends. @defaultValue none */
  readonly ledgerFile?: string;
  /** Reckoned with where no price is known; without it such rows keep a run with a cap from starting. */
  readonly assumePriceUsd?: number;
  /** Stops the run when a reported price is dearer than the price book's by more than so many per cent. @defaultValue no limit */
  readonly maxPriceDriftPercent?: number;
  /**
   * Stops the run when the first price reported for rows of no known price shows that they cost more than this together, in USD.
   * Over a database each worker stops it at the first one that it sees. @defaultValue no limit
   */
  readonly maxUnpricedUsd?: number;
  /** Stops when so many rows of this start failed: a number, or a percentage of those to do (of those that ended, from 20 on). */
  readonly halt?: { readonly count: number } | { readonly percent: number };
  /** Goes on with every record that can be read where the journal is damaged. @defaultValue false */
  readonly repair?: boolean;
  /**
   * Options of the command line that a later start needs as well, noted in the journal for the commands of the report.
   * `manifest`: those about how this manifest is read, which one of rejected rows does not need.
   */
  readonly repeat?: { readonly manifest: readonly string[]; readonly others: readonly string[] };
  readonly stop?: Observable<StopOrder>;
  /** Asked once all is known and nothing has been sent; `false` ends the run with exit 2. */
  readonly confirm?: (plan: Plan, ahead: Ahead) => boolean | Promise<boolean>;

  /** @defaultValue nodeDisk */
  readonly disk?: Disk;
  /** @defaultValue one over got */
  readonly transport?: Transport;
  /** Where pictures go that rows name by their paths, once the folder is there. Goes with `manifest.resolveImage: localPicture`. @defaultValue nowhere */
  readonly pictureHost?: (folder: string) => Promise<PictureHost>;
  /** Fetches pictures. @defaultValue one over got, without the key */
  readonly saveFrom?: Download;
  /** @defaultValue by sharp, where it is installed */
  readonly makeThumbnail?: MakeThumbnail;
  /** All time goes by it. @defaultValue asyncScheduler, which goes on where the clock is set back */
  readonly scheduler?: SchedulerLike;
  /** From 0 to 1, for jitter. @defaultValue Math.random */
  readonly random?: () => number;
  /** Before every request. @defaultValue by `rate` */
  readonly gate?: Gate;
  /** When to ask for a job. @defaultValue learned from run times, over all starts, by `pollCostMs` */
  readonly schedule?: PollSchedule;
  /** Opens the run's journal, once the run is held. @defaultValue a file in the folder */
  readonly journal?: (folder: string) => Promise<Journal>;
  /** Makes this process the only one of the run. @defaultValue a lock that the kernel frees */
  readonly hold?: (folder: string) => Promise<RunHold>;
  /** @defaultValue createLedger */
  readonly ledger?: (recovered: LedgerOptions) => Ledger;
  /** Opens the ledger that runs share. @defaultValue by `ledgerFile` */
  readonly dayLedger?: () => Promise<DayLedger>;
  /** @defaultValue the published prices */
  readonly prices?: PriceBook;
}
