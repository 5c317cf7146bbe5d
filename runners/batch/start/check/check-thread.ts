// What `check-ahead.ts` starts as a thread: a file of its own, which loads what it needs once it runs.
import { setFlagsFromString } from 'node:v8';
import { once } from 'node:events';
import { parentPort, type MessagePort } from 'node:worker_threads';
import { nodeDisk } from '../../disk/node-disk.js';
import type { KeptManifest } from './keep-manifest.js';

// A thread that begins sets it back for the whole process: the other one has no rows to make room for.
setFlagsFromString('--semi-space-growth-factor=1');
void keep(parentPort as MessagePort);

async function keep(port: MessagePort): Promise<void> {
  const { keepManifest } = await import('./keep-manifest.js');
  const [manifest] = (await once(port, 'message')) as [KeptManifest];
  await keepManifest(nodeDisk, manifest);
}
