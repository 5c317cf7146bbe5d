// What `check-ahead.ts` starts as a thread: a file of its own, which loads what it needs once it runs.
import { workerData } from 'node:worker_threads';
import { nodeDisk } from '../../disk/node-disk.js';
import type { KeptManifest } from './keep-manifest.js';

const { keepManifest } = await import('./keep-manifest.js');
await keepManifest(nodeDisk, workerData as KeptManifest);
