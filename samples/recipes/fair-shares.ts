import { lastValueFrom, merge, tap } from 'rxjs';
import { createClient, createLanes, pullJobs, withinLane } from 'millrace';
import { startEmulator } from 'millrace/emulator';

// Two endpoints behind one bound: of four jobs in flight three belong to the large one and one to the small one, as long
// as both have rows; what one of them does not need goes to the other.
const work = async ({ n }: Record<string, unknown>, job: { sleep(ms: number): Promise<void> }) => {
  await job.sleep(20);
  return { n };
};
const emulator = await startEmulator({ workers: 8, functions: { queue: { large: work, small: work } } });
const client = createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl });
const lanes = createLanes({ slots: 4, weights: { large: 3, small: 1 } });
const order: string[] = [];
client.activity$.subscribe(({ type, endpointId }) => type === 'submitting' && order.push(endpointId));
const rows = Array.from({ length: 12 }, (_, n) => ({ n }));

const startRows = (name: 'large' | 'small') => {
  const endpoint = client.queue(name);
  return pullJobs(rows, (row) => endpoint.runSync(row).pipe(withinLane(lanes, name)), { concurrency: 4 });
};
let most = 0;
const note = () => {
  const { large, small } = lanes.state();
  if (large !== undefined && large.waiting > 0) most = Math.max(most, small?.held ?? 0);
};
await lastValueFrom(merge(startRows('large'), startRows('small')).pipe(tap(note)));

// The large one came first and took every slot; the first that came free went to the small one.
console.log(order.slice(0, 5).join(' '));
console.log(`small held ${most} of 4 slots while large had rows waiting, and all ${order.length} ran`);
await emulator.close();
