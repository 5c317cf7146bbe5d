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
import type { RunHold } from '../lock/owner.js';
import type { PictureHost } from '../uploads/picture-host.js';
import type { ManifestSettings } from '../manifest/manifest-settings.js';
import type { FailureLine } from '../sinks/failure-line.js';
import type { ResultLine } from '../sinks/result-line.js';
import type { Plan } from '../manifest/plan-manifest.js';
import type { Ahead } from '../start/check/ahead.js';
import type { PricedBytes } from '../tasks/priced-bytes.js';
import type { HandOn, OpenCallbackPort } from './callback-port.js';

/**
 * A stop from outside. `graceful`: paid replies on their way are awaited. `now`: nothing is awaited; a later start can
 * continue even then.
 */
export type StopOrder =
  | 'graceful'
  | 'now'
  | {
      readonly how: 'graceful' | 'now';
      /** The exit code of the run: 130 after SIGINT, 143 after SIGTERM, 129 after SIGHUP. @defaultValue 130 */
      readonly exitCode?: number;
    };

/** The options of a run. Durations in ms, money in US dollars. */
export interface RunBatchOptions {
  /**
   * Either a file by its path: format and gzip follow from its name unless they are given. Or `rows`, which are processed as
   * they arrive from an array, an async generator or a Node stream, which may be endless: objects as in JSONL, or lines of it.
   * Each row is checked separately. An invalid row becomes a failure, and a row that arrives again is recognised by its id,
   * over all starts.
   */
  readonly manifest: (
    | {
        readonly path: string;
        /**
         * The bytes that an earlier pass found in the file: the run buys only rows of these bytes, or stops. @defaultValue
         * those that its own check finds
         */
        readonly bytes?: PricedBytes | undefined;
        /**
         * Where the run keeps the file: once the start is confirmed, `move` puts it there, and it is read there from
         * then on. @defaultValue it stays at `path`
         */
        readonly keep?:
          | {
              /** The path of the file from then on. */
              readonly path: string;
              /** Moves the file there. */
              readonly move: () => Promise<void>;
            }
          | undefined;
      }
    | { readonly rows: AsyncIterable<unknown> | Iterable<unknown> }
  ) & { readonly [Name in keyof ManifestSettings]?: ManifestSettings[Name] | undefined };
  /**
   * Called once for each row that has ended, with its line of results.jsonl or failures.jsonl, after that is written.
   * With `rows` it is also called for a row that arrives again and ended in an earlier start. The row keeps its slot
   * until a returned promise resolves, so a slow callback slows the run.
   */
  readonly deliver?: ((line: ResultLine | FailureLine) => void | PromiseLike<void>) | undefined;
  /** The output folder. It identifies the run: a start with the same folder continues where the last start ended. */
  readonly out: string;
  /** What must be the same at every start. @defaultValue the hosts, not local */
  readonly identity?: RunIdentity | undefined;
  /** {base_url} of queue and image-edit endpoints. */
  readonly baseUrl?: string | undefined;
  /** {lb_base_url} of routes. */
  readonly lbBaseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /**
   * The number of rows in flight, from before their POST until their reply, or a failure, is durable. `auto` measures how many
   * the service accepts, from 4 to 100. @defaultValue `auto` if rows go to /run, else 8
   */
  readonly concurrency?: number | 'auto' | undefined;
  /** Number of pictures saved at a time; at most four times as many wait, then rows are held back. @defaultValue 4 */
  readonly downloads?: number | undefined;
  /**
   * Requests per second to the service, without downloads; `runpod` uses the limits that the live service publishes for
   * each kind. @defaultValue measured, once a request was refused with 429
   */
  readonly rate?: number | 'runpod' | undefined;
  /**
   * Time limit of a row in this start, including waits for the rate limit. A row with a job id that reaches it is polled first
   * by the next start. Only a paid POST that was already sent is awaited longer, for the time limit of that request (a minute;
   * for /runsync `runsyncTimeoutMs`), because its answer may name the job.
   * @defaultValue 3_600_000
   */
  readonly timeoutMs?: number | undefined;
  /** Client timeout of /runsync. (spec 8) @defaultValue 60_000 */
  readonly runsyncTimeoutMs?: number | undefined;
  /** The client timeout of /runsync by endpoint id, where it differs. */
  readonly executionTimeoutsMs?: Readonly<Record<string, number>> | undefined;
  /** Extra tries of requests that are safe to repeat. @defaultValue 4 */
  readonly retries?: number | undefined;
  /**
   * Receives callbacks of the service about rows that go to /run, so that they need few polls. `url` is where the service
   * reaches this process, for example through a proxy that terminates TLS. `host` and `port` are where the process listens;
   * port 0 means a free one. @defaultValue no callbacks
   */
  readonly webhooks?:
    | {
        /** @defaultValue the address where the process listens */
        readonly url?: string | undefined;
        /** @defaultValue 127.0.0.1 */
        readonly host?: string | undefined;
        /** @defaultValue 8787 */
        readonly port?: number | undefined;
        /** Opens the server that receives callbacks. @defaultValue one of `node:http` at `host` and `port` */
        readonly open?: OpenCallbackPort | undefined;
        /** Receives callbacks about rows that another process may have. @defaultValue there is no other process */
        readonly handOn?: HandOn | undefined;
      }
    | undefined;
  /**
   * Rows that go to /run wait at the service behind all jobs without low priority (`policy.lowPriority`). It is not
   * part of a row's request: another start may set it differently. @defaultValue false
   */
  readonly lowPriority?: boolean | undefined;
  /** The price of one status call in ms of lag: with a larger value a run polls less and notices ends later. @defaultValue 190 */
  readonly pollCostMs?: number | undefined;
  /**
   * What to do with a request that may have been accepted: hold the row as `unknown`, or send it again at the risk of
   * paying twice. @defaultValue 'hold'
   */
  readonly onUnknown?: 'hold' | 'retry' | undefined;
  /**
   * Failures of earlier starts to continue or send again: failure codes, or `failed` (all that were not paid for), `unknown`,
   * `expired`, `all`. Those that cost nothing, `download` and `deadline`, are continued in any case. @defaultValue download, deadline
   */
  readonly retry?: readonly string[] | undefined;
  /**
   * Whether completed rows that have changed since are bought again, or kept without a warning.
   * @defaultValue they are kept, and each start warns of them
   */
  readonly changed?: 'keep' | 'redo' | undefined;
  /**
   * Whether rows with the same request as another row, under another id, are counted in `ahead.same`, or make the run
   * refuse to start. @defaultValue 'warn'
   */
  readonly same?: 'warn' | 'refuse' | undefined;
  /** The highest number of rows to send; a later start continues. */
  readonly limit?: number | undefined;
  /** Sends only these rows: ids, and `column=value` for all rows with that value in one of the user's own columns. */
  readonly only?: readonly string[] | undefined;
  /** Invalid rows become failures instead of preventing the start. @defaultValue false */
  readonly skipInvalid?: boolean | undefined;
  /**
   * Adds a manifest at another path, none of whose ids the run knows, to the run. The run remembers the manifest's
   * path. Without this option such a start is refused; `rows` that arrive are never refused. @defaultValue false
   */
  readonly add?: boolean | undefined;
  /** Whether pictures are saved; otherwise they are left at their URLs. @defaultValue true */
  readonly download?: boolean | undefined;
  /**
   * Paths in the output of a job whose files are saved in addition to the row's picture, such as `output.video_url` or
   * `output.images[].url`. The run remembers them: `undefined` keeps what it remembers, `null` ends it. For rows that completed
   * before, files that were not asked for then are downloaded. @defaultValue what the run remembers
   */
  readonly saveOutput?: readonly string[] | null | undefined;
  /**
   * Cap for the sum of reserved, spent and unknown money over all starts. The run remembers it: `undefined` keeps what
   * it remembers, `null` lifts the cap. @defaultValue what the run remembers, then `defaultMaxCostUsd`
   */
  readonly maxCostUsd?: number | null | undefined;
  /** The cap if neither this start nor the run sets one; it is not remembered. @defaultValue no cap */
  readonly defaultMaxCostUsd?: number | undefined;
  /**
   * Adds up money and rows by the values of these columns: the user's own, or `kind`, `endpoint`, `resolution`. The run
   * remembers them: `undefined` keeps what it remembers, `null` ends it. @defaultValue what the run remembers
   */
  readonly costBy?: readonly string[] | null | undefined;
  /**
   * By column, the cap for the sum of reserved, spent and unknown money of the rows with any one value. A row that does not fit
   * is left for a later start; others continue. The run remembers it: `undefined` keeps what it remembers, `null` lifts the cap
   * of a column, or all. @defaultValue what the run remembers
   */
  readonly maxCostByUsd?: Readonly<Record<string, number | null>> | null | undefined;
  /** Cap for the reserved and spent money of all runs that share `ledgerFile`, within a rolling 24 hours. @defaultValue no cap */
  readonly maxCostPerDayUsd?: number | undefined;
  /**
   * Warns once for each of the caps above when the money spent, reserved or unknown reaches this threshold; without a
   * cap the start is refused. @defaultValue no warning
   */
  readonly warnAt?: WarnAt | undefined;
  /**
   * The ledger that runs share. Required by `maxCostPerDayUsd`; without that option the run only books what it spends.
   * @defaultValue none
   */
  readonly ledgerFile?: string | undefined;
  /** The price to use if none is known; without it, a run with a cap refuses to start with such rows. */
  readonly assumePriceUsd?: number | undefined;
  /** Stops the run when a reported price exceeds that of the price book by more than this percentage. @defaultValue no limit */
  readonly maxPriceDriftPercent?: number | undefined;
  /**
   * Stops the run when the first price reported for rows without a known price shows that they cost more than this
   * together, in US dollars; and when rows whose price is in no list have cost more than this in this start. If that is more, the
   * second limit is what the highest prices reported before led to expect, with `maxPriceDriftPercent` above it. With a database,
   * each worker stops the run by the prices that it sees, and the run adds up what the rows of all workers have cost.
   * @defaultValue no limit
   */
  readonly maxUnpricedUsd?: number | undefined;
  /**
   * The same two limits for a start that has no cap of the run: none that is given, remembered or the default. A limit that is set
   * itself holds in its place. @defaultValue no limit
   */
  readonly unlessCapped?: Pick<RunBatchOptions, 'maxPriceDriftPercent' | 'maxUnpricedUsd'> | undefined;
  /**
   * Stops the run when this many rows of this start have failed: a number, or a percentage of the rows to do (of those
   * that ended, once there are 20).
   */
  readonly halt?: { readonly count: number } | { readonly percent: number } | undefined;
  /** If the journal is damaged, continues with every record that can be read. @defaultValue false */
  readonly repair?: boolean | undefined;
  /**
   * Options of the command line that a later start needs as well. The journal keeps them for the commands that the
   * report prints. `manifest`: those about reading this manifest, which a manifest of rejected rows does not need.
   */
  readonly repeat?: { readonly manifest: readonly string[]; readonly others: readonly string[] } | undefined;
  readonly stop?: Observable<StopOrder> | undefined;
  /** Called once everything is known and nothing has been sent; `false` ends the run with exit code 2. */
  readonly confirm?: ((plan: Plan, ahead: Ahead) => boolean | Promise<boolean>) | undefined;

  /** @defaultValue nodeDisk */
  readonly disk?: Disk | undefined;
  /** @defaultValue a transport that uses got */
  readonly transport?: Transport | undefined;
  /**
   * Opens the uploader for pictures that rows name by their paths. A check may open it before the folder exists. Use it with
   * `manifest.resolveImage: localPicture`. @defaultValue no uploads
   */
  readonly pictureHost?: ((folder: string) => Promise<PictureHost>) | undefined;
  /** Downloads pictures. @defaultValue a download that uses got, without the API key */
  readonly saveFrom?: Download | undefined;
  /** @defaultValue uses sharp, if it is installed */
  readonly makeThumbnail?: MakeThumbnail | undefined;
  /** The clock and timers for everything. @defaultValue asyncScheduler, but unaffected when the wall clock is set */
  readonly scheduler?: SchedulerLike | undefined;
  /** Returns a number from 0 to 1, for jitter. @defaultValue Math.random */
  readonly random?: (() => number) | undefined;
  /** Admits every request. @defaultValue by `rate` */
  readonly gate?: Gate | undefined;
  /** When to poll a job. @defaultValue learned from run times, over all starts, with `pollCostMs` */
  readonly schedule?: PollSchedule | undefined;
  /** Opens the run's journal, once the run is held. @defaultValue a file in the folder */
  readonly journal?: ((folder: string) => Promise<Journal>) | undefined;
  /** Makes this process the only one of the run. @defaultValue a lock that the kernel frees */
  readonly hold?: ((folder: string) => Promise<RunHold>) | undefined;
  /** @defaultValue createLedger */
  readonly ledger?: ((recovered: LedgerOptions) => Ledger) | undefined;
  /** Opens the ledger that runs share. @defaultValue by `ledgerFile` */
  readonly dayLedger?: (() => Promise<DayLedger>) | undefined;
  /** @defaultValue the published prices */
  readonly prices?: PriceBook | undefined;
}
