// A process of its own for the throughput: `node [flags] .config/run-ts.mjs test/bench/throughput-process.ts ROUNDS`.
import { roomyFlags, throughput } from './parts/throughput.js';

const isRoomy = roomyFlags.every((flag) => process.execArgv.includes(flag));
process.stdout.write(JSON.stringify(await throughput(Number(process.argv[2]), undefined, isRoomy)));
