import type { Observable } from 'rxjs';
import { runClock } from '../../../src/policy/client-clock.js';
import { createGotDownload } from '../../../src/transport/got/got-download.js';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import type { RunBatchOptions } from '../../batch/context/run-options.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import type { RunDatabase } from '../table/run-ledger.js';

/** Options of one worker. Hosts and key are its own: it serves only runs against these hosts, and sends the key to no other. */
export interface WorkerOptions extends Pick<
  RunBatchOptions,
  'apiKey' | 'baseUrl' | 'lbBaseUrl' | 'transport' | 'saveFrom' | 'disk' | 'scheduler' | 'random'
> {
  readonly database: RunDatabase;
  /** The run's folder, if this worker can reach it: the worker saves pictures there. @defaultValue the collector saves them */
  readonly artifacts?: string;
  /**
   * Listens for callbacks of the service about rows of any worker, for all runs of the database. The run decides the address
   * that the service gets.
   * @defaultValue this worker does not listen; it gets callbacks that came to other processes
   */
  readonly webhooks?: Pick<NonNullable<RunBatchOptions['webhooks']>, 'host' | 'port' | 'open'>;
  /** Maximum number of rows in flight, for each run. @defaultValue as many as the run has */
  readonly slots?: number;
  /** The first value ends the worker after the requests on the wire are done, the second one at once. */
  readonly stop?: Observable<unknown>;
  readonly notify?: (event: WorkerEvent) => void;
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
  const { baseUrl = '', lbBaseUrl = '' } = options;
  return {
    ...options,
    baseUrl,
    lbBaseUrl,
    slots: options.slots ?? mostSlots,
    notify: options.notify ?? (() => undefined),
    transport: options.transport ?? createGotTransport(),
    saveFrom: options.saveFrom ?? createGotDownload({ services: [baseUrl, lbBaseUrl] }),
    disk: options.disk ?? nodeDisk,
    scheduler: options.scheduler ?? runClock(),
    random: options.random ?? Math.random,
  };
}
