import { createGotDownload } from '../../../src/transport/got-download.js';
import { createGotTransport } from '../../../src/transport/got-transport.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { steadyClock } from '../../batch/context/steady-clock.js';
import type { WorkerOptions } from './worker-options.js';

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
