// The emulator in a process of its own, whose jobs say when they have ended, and are called back. Says where it is as JSON.
// node .config/run-ts.mjs test/bench/service/serve-callbacks.ts [faults]
import { startEmulator } from '../../../runners/emulator/index.js';

const [, , faults = ''] = process.argv;
const workers = 200;

/** 100 to 500 ms. */
const timed = async ({ n }: Record<string, unknown>, job: { sleep: (ms: number) => Promise<void> }) => {
  await job.sleep(100 + ((Number(n) * 7_919) % 400));
  return { n, endedAt: performance.timeOrigin + performance.now(), cost: 0.01 };
};
const emulator = await startEmulator({ functions: { queue: { timed } }, workers, ...(faults && { faults }) });
const { baseUrl, apiKey } = emulator;
process.stdout.write(`${JSON.stringify({ baseUrl, apiKey })}\n`);
process.stdin.resume().on('end', () => process.exit(0));
