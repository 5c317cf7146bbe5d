#!/usr/bin/env node
import { closeSync, fstatSync, writeSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isatty } from 'node:tty';
import { keepMemorySmall, makeRoomForRows } from './make-room-for-rows.js';
import { runCli } from './run-cli.js';
import type { StopSignal } from './io/cli-io.js';
import { UsageError } from './io/usage-error.js';

const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** What is called at a signal, by parts of the command that may follow on each other. */
const stopListeners = new Set<(signal: StopSignal) => void>();
let isListening = false;
/** Those of the last `passedOnMs`. */
const received = new Set<StopSignal>();
/** A session that ends sends both: together they are one. */
const oneFor = { SIGINT: 'SIGINT', SIGTERM: 'SIGTERM', SIGHUP: 'SIGTERM' } as const;

/** npm, and what runs under it, pass a signal on to a process that has had it from the terminal: within this time in ms it is the same one. */
const passedOnMs = 300;

/** CPU time in ms within which a plan of few rows ends. Garbage collection before it would take a tenth of that time. */
const shortMs = 250;
if (process.argv[2] === 'plan') keepMemorySmallAfter(shortMs);
else if (!process.argv.includes('--help')) keepMemorySmall();

// A user number without a name, as of a container or a service, may have no home: then node's `homedir` throws, and libraries call it.
try {
  homedir();
} catch {
  process.env['HOME'] = `${tmpdir()}/millrace-${process.getuid?.() ?? 'user'}`;
}

// The AWS SDK (for uploads) warns about Node versions that it will drop some day, also with --quiet.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';

function keepMemorySmallAfter(ms: number): void {
  const { user, system } = process.cpuUsage();
  const left = ms - (user + system) / 1_000;
  if (left <= 0) keepMemorySmall();
  else setTimeout(keepMemorySmallAfter, Math.max(left, 1), ms).unref();
}

/** Streams with a listener for errors. */
const surviving = new Set<NodeJS.WriteStream>();

/** Why a part of stdout is lost, such as ENOSPC. Not if its reader went away. */
let lostBy: string | undefined;

// Without `await`, because the build turns this file into CommonJS, which node starts faster.
process.exitCode = 70;
process.on('exit', reportUnfinished);
process.on('exit', reportLost);
process.on('exit', leaveTerminal);
void runCli(process.argv.slice(2), {
  // Streams are opened on first use: `--help` uses none of them, and opening them takes 2 % of its time.
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return survivingItsReader(process.stdout);
  },
  get stderr() {
    return survivingItsReader(process.stderr);
  },
  // A terminal uses its stream, for its width.
  ...(fstatSync(1).isCharacterDevice() ? {} : { printPage }),
  env: process.env,
  get cwd() {
    return currentFolder();
  },
  beforeRows: makeRoomForRows,
  onStop(listener) {
    const own = (signal: StopSignal): void => listener(signal);
    stopListeners.add(own);
    // It stays, to know a signal that is passed on when what it stopped has ended.
    if (!isListening) for (const signal of stopSignals) process.on(signal, receiveStop);
    isListening = true;
    return () => void stopListeners.delete(own);
  },
  onFault(explain) {
    // The only exit that does not wait: after such an error it is not known what is still to be done, and the journal covers
    // this case.
    process.on(
      'uncaughtException',
      (error) =>
        // An error that cannot be explained would come here again, for ever.
        void explain(error)
          .then(endWith)
          .finally(() => process.exit()),
    );
  },
}).then(endWith);

/** The one listener of this process for signals that stop a command: each signal counts once for all parts of the command. */
function receiveStop(signal: StopSignal): void {
  // A further signal just after the one that ended the command says nothing new.
  const one = oneFor[signal];
  if (received.has(one) || (received.size > 0 && stopListeners.size === 0)) return;
  received.add(one);
  // The time is over only once what arrived in it is read, which may be late where the process is busy, or was suspended: another of its threads
  // may take the signal, and pass it on here some time after. Nor does the process end before: while it does, node receives no signal, and one
  // that is passed on would kill it.
  const isOver = () => setImmediate(() => received.delete(one));
  setTimeout(() => setTimeout(isOver, passedOnMs / 3), (2 * passedOnMs) / 3);
  if (stopListeners.size === 0) {
    process.off(signal, receiveStop);
    process.kill(process.pid, signal);
  }
  for (const listener of [...stopListeners]) listener(signal);
}

/** @throws {UsageError} if the folder was removed, or may not be looked into */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    throw new UsageError([`the current folder is gone or closed to you (${code}): cd to another one`]);
  }
}

function endWith(code: number): void {
  process.off('exit', reportUnfinished);
  process.exitCode = code;
}

/** Closes the terminal: before its exit node resets the terminal's modes, and aborts if the terminal is gone. */
function leaveTerminal(): void {
  for (const stream of [0, 1, 2])
    try {
      if (fstatSync(stream).isCharacterDevice() && !isatty(stream)) closeSync(stream);
    } catch {
      // It is closed already.
    }
}

/** Reports that the process ends although its command has not: that is never success. */
function reportUnfinished(): void {
  writeSync(
    2,
    'millrace stopped before its work was done: this is a fault of millrace. Start it again to continue.\n',
  );
}

/** A command whose output a script would take for whole has not succeeded. */
function reportLost(): void {
  if (lostBy === undefined) return;
  if (process.exitCode === 0) process.exitCode = 74;
  writeSync(
    2,
    `error: a part of the output on stdout could not be written (${lostBy}); files are not affected\n`,
  );
}

/** Ignores that the reader of a stream goes away (`| head`), which must not stop a run: later output is lost, files are not. */
function survivingItsReader(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  if (!surviving.has(stream)) stream.on('error', (error: NodeJS.ErrnoException) => noteLost(stream, error));
  surviving.add(stream);
  return stream;
}

function noteLost(stream: NodeJS.WriteStream, { code = 'error' }: NodeJS.ErrnoException): void {
  if (stream === process.stdout && !stream.isTTY && code !== 'EPIPE') lostBy ??= code;
}

/** Text that a full pipe does not accept at once is written through the stream. */
function printPage(text: string): void {
  const bytes = Buffer.from(text);
  let written = 0;
  try {
    written = writeSync(1, bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EAGAIN' && code !== 'EPIPE') lostBy ??= code;
    if (code !== 'EAGAIN') return;
  }
  if (written < bytes.length) survivingItsReader(process.stdout).write(bytes.subarray(written));
}
