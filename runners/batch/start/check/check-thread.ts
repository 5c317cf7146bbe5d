// The script of the thread that `check-ahead.ts` starts; it is small and loads its modules only once it runs.
import { setFlagsFromString } from 'node:v8';
import { once } from 'node:events';
import { parentPort, type MessagePort } from 'node:worker_threads';
import { nodeDisk } from '../../disk/node-disk.js';
import type { KeptManifest } from './keep-manifest.js';

// Starting a thread resets this flag for the whole process, so it is set again: the main thread creates no rows
// meanwhile.
setFlagsFromString('--semi-space-growth-factor=1');
void keep(parentPort as MessagePort);

async function keep(port: MessagePort): Promise<void> {
  const { keepManifest } = await import('./keep-manifest.js');
  const [manifest] = (await once(port, 'message')) as [KeptManifest];
  await keepManifest(nodeDisk, manifest);
}
