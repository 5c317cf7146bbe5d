import type { Observable, SchedulerLike } from 'rxjs';
import { runClock } from '../../../src/policy/client-clock.js';
import type { Download } from '../../../src/transport/got/download.js';
import { createGotDownload } from '../../../src/transport/got/got-download.js';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import type { Transport } from '../../../src/transport/transport.js';
import type { OpenCallbackPort } from '../../batch/context/callback-port.js';
import type { Disk } from '../../batch/disk/disk.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import type { RunDatabase } from '../table/run-ledger.js';

/** Options of one worker. Hosts and key are its own: it serves only runs against these hosts, and sends the key to no other. */
export interface WorkerOptions {
  readonly database: RunDatabase;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly lbBaseUrl?: string;
  /** The run's folder, if this worker can reach it: the worker saves pictures there. @defaultValue the collector saves them */
  readonly artifacts?: string;
  /**
   * Listens for callbacks of the service about rows of any worker, for all runs of the database. The run decides the address
   * that the service gets.
   * @defaultValue this worker does not listen; it gets callbacks that came to other processes
   */
  readonly webhooks?: {
    /** @defaultValue 127.0.0.1 */
    readonly host?: string;
    /** @defaultValue 8787 */
    readonly port?: number;
    /** Opens the server that callbacks come to. @defaultValue one of `node:http` at `host` and `port` */
    readonly open?: OpenCallbackPort;
  };
  /** Maximum number of rows in flight, for each run. @defaultValue as many as the run has */
  readonly slots?: number;
  /** The first value ends the worker after the requests on the wire are done, the second one at once. */
  readonly stop?: Observable<unknown>;
  readonly notify?: (event: WorkerEvent) => void;
  /** @defaultValue one over got */
  readonly transport?: Transport;
  /** @defaultValue one over got, without the key */
  readonly saveFrom?: Download;
  /** @defaultValue nodeDisk */
  readonly disk?: Disk;
  /** @defaultValue the clock of a run: it never jumps */
  readonly scheduler?: SchedulerLike;
  /** From 0 to 1, for jitter. @defaultValue Math.random */
  readonly random?: () => number;
}

export type WorkerEvent =
  | { readonly type: 'started'; readonly worker: string }
  /** The worker works on this run from now on. */
  | { readonly type: 'run'; readonly run: number }
  /** The worker cannot work on this run; `message` has the reason. */
  | { readonly type: 'foreign'; readonly run: number; readonly message: string }
  /** The worker was declared dead, and continues with other rows. */
  | { readonly type: 'lost'; readonly message: string }
  | { readonly type: 'away'; readonly message: string }
  | { readonly type: 'back' }
  | { readonly type: 'fault'; readonly message: string }
  | { readonly type: 'progress'; readonly submitted: number; readonly ended: number };

/** The default; the run's concurrency limits it in practice. */
const mostSlots = 1_000_000;

/** A worker's options with their defaults. */
export type WorkerSettings = ReturnType<typeof resolveWorkerOptions>;

export function resolveWorkerOptions(options: WorkerOptions) {
  const { database, apiKey, baseUrl = '', lbBaseUrl = '', artifacts, notify, webhooks } = options;
  return {
    database,
    apiKey,
    baseUrl,
    lbBaseUrl,
    artifacts,
    webhooks,
    slots: options.slots ?? mostSlots,
    notify: notify ?? (() => undefined),
    transport: options.transport ?? createGotTransport(),
    saveFrom: options.saveFrom ?? createGotDownload({ services: [baseUrl, lbBaseUrl] }),
    disk: options.disk ?? nodeDisk,
    scheduler: options.scheduler ?? runClock(),
    random: options.random ?? Math.random,
  };
}
