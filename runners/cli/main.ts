#!/usr/bin/env node
import { keepMemorySmall, makeRoomForRows } from './make-room-for-rows.js';
import { runCli } from './run-cli.js';
import type { StopSignal } from './io/cli-io.js';

const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** A plan of few rows has ended after this time of CPU: it would collect garbage for a tenth of it. */
const shortMs = 250;
if (process.argv[2] === 'plan') keepMemorySmallAfter(shortMs);
else if (!process.argv.includes('--help')) keepMemorySmall();

// The AWS SDK, which uploads load, warns of each Node that it will not support one day, also with --quiet.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';

// A reader that goes away (`| head`) must not stop a run: what is printed from then on is lost, the files are not.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

function keepMemorySmallAfter(ms: number): void {
  const { user, system } = process.cpuUsage();
  const left = ms - (user + system) / 1_000;
  if (left <= 0) keepMemorySmall();
  else setTimeout(keepMemorySmallAfter, Math.max(left, 1), ms).unref();
}

process.exitCode = await runCli(process.argv.slice(2), {
  // Few commands read it, and opening it takes 3 % of a help.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  beforeRows: makeRoomForRows,
  onStop(listener) {
    for (const signal of stopSignals) process.on(signal, listener);
    return () => {
      for (const signal of stopSignals) process.off(signal, listener);
    };
  },
  onFault(explain) {
    // The one way out that does not wait: after such an error nobody knows what would still be done, and the journal is made for it.
    process.on('uncaughtException', (error) => void explain(error).then((code) => process.exit(code)));
  },
});
