import type { Observable, SchedulerLike } from 'rxjs';
import type { Download } from '../../../src/transport/download.js';
import { createGotDownload } from '../../../src/transport/got-download.js';
import { createGotTransport } from '../../../src/transport/got-transport.js';
import type { Transport } from '../../../src/transport/transport.js';
import { steadyClock } from '../../batch/context/steady-clock.js';
import type { Disk } from '../../batch/disk/disk.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import type { Database } from '../records/database.js';

/** Of one worker. Hosts and key are its own: it serves only runs against these hosts, and the key goes to no other. */
export interface WorkerOptions {
  readonly database: Database;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly lbBaseUrl?: string;
  /** The run's folder, where this worker shares it: it saves pictures there. @defaultValue left to the collector */
  readonly artifacts?: string;
  /** Pieces at a time. @defaultValue 128 */
  readonly slots?: number;
  /** The first order ends it once what it has in hand is done, the second at once. */
  readonly stop?: Observable<unknown>;
  /** Ends when no run has work left. @defaultValue false */
  readonly once?: boolean;
  readonly tell?: (event: WorkerEvent) => void;
  /** Awaited between the steps of a piece. */
  readonly onStep?: (step: PieceStep) => void | Promise<void>;
  /** @defaultValue one over got */
  readonly transport?: Transport;
  /** @defaultValue one over got, without the key */
  readonly saveFrom?: Download;
  /** @defaultValue nodeDisk */
  readonly disk?: Disk;
  /** @defaultValue asyncScheduler, which goes on where the clock is set back */
  readonly scheduler?: SchedulerLike;
  /** From 0 to 1, for jitter. @defaultValue Math.random */
  readonly random?: () => number;
}

/**
 * `intended`: the intent is committed, and nothing is sent. `answered`: the POST has its answer, and it is not written.
 * `accepted`: the id is. `polled`: a status call has its answer. `ended`: the ending is written.
 */
export type PieceStep = 'intended' | 'answered' | 'accepted' | 'polled' | 'ended';

export type WorkerEvent =
  | { readonly type: 'started'; readonly worker: string }
  /** It works on this run from now on. */
  | { readonly type: 'run'; readonly run: number }
  /** It cannot work on this run, and why. */
  | { readonly type: 'foreign'; readonly run: number; readonly message: string }
  | { readonly type: 'away'; readonly message: string }
  | { readonly type: 'back' }
  | { readonly type: 'fault'; readonly message: string }
  | { readonly type: 'progress'; readonly submitted: number; readonly ended: number };

/** What a worker works with. */
export type Parts = ReturnType<typeof partsOf>;

export function partsOf(options: WorkerOptions) {
  const { database, apiKey, baseUrl = '', lbBaseUrl = '', artifacts, onStep, tell } = options;
  return {
    ...{ database, apiKey, baseUrl, lbBaseUrl, artifacts },
    slots: options.slots ?? 128,
    once: options.once ?? false,
    tell: tell ?? (() => undefined),
    onStep: onStep ?? (() => undefined),
    transport: options.transport ?? createGotTransport(),
    saveFrom: options.saveFrom ?? createGotDownload({ services: [baseUrl, lbBaseUrl] }),
    disk: options.disk ?? nodeDisk,
    scheduler: options.scheduler ?? steadyClock(),
    random: options.random ?? Math.random,
  };
}
