import { appendFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { exitCodes, reasonOf, remedyOf } from '../../batch/formats.js';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { redact } from '../../../src/contract/redact.js';
import { plainText } from '../messages/plain-text.js';
import type { CliIo, FaultContext } from './cli-io.js';
import { UsageError } from './usage-error.js';

/** Prints why a command failed, and returns its exit code. */
export async function explainError(error: unknown, io: CliIo, fault: FaultContext): Promise<number> {
  const print = (text: string) => void io.stderr.write(`${redact(text, fault.secrets)}\n`);
  const exitCode = isMillraceError(error) ? exitCodes[error.code] : undefined;
  if (error instanceof UsageError) {
    for (const problem of error.problems) print(`error: ${plainText(problem)}`);
    if (error.hint !== undefined) print(`  ${error.hint}`);
    return 2;
  }
  if (isMillraceError(error) && exitCode !== undefined) {
    for (const line of error.message.split('\n')) print(`error: ${plainText(line)}`);
    return exitCode;
  }
  const disk = diskTrouble(error);
  if (disk !== undefined) {
    print(`error: ${plainText(disk)}`);
    return 74;
  }
  print(`error: this is a fault of millrace itself: ${plainText(nameOf(error), 200)}`);
  print(`  the details are in ${await keepDetails(error, fault)}`);
  return 70;
}

/** The system's error in words; `undefined` unless the disk is the problem. */
function diskTrouble(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, path } = error as NodeJS.ErrnoException;
  const reason = reasonOf(code);
  return reason === undefined || path === undefined
    ? undefined
    : `${path}: ${reason}. ${remedyOf(code)} and run the same command again.`;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** Appends the error to the run's log, or writes a new file if there is no run. Returns the file's path. */
async function keepDetails(error: unknown, { folder, secrets }: FaultContext): Promise<string> {
  const at = Date.now();
  const details = redact(inspect(error, { depth: 4, maxStringLength: 2000, maxArrayLength: 20 }), secrets);
  const line = `${JSON.stringify({ level: 60, time: at, msg: 'fault of millrace', details })}\n`;
  const paths = [
    ...(folder === undefined ? [] : [join(folder, 'run.log')]),
    join(tmpdir(), `millrace-${at}.log`),
  ];
  for (const path of paths) {
    try {
      await appendFile(path, line, { mode: 0o600 });
      return path;
    } catch {
      // The next place is tried, because the folder itself may have failed.
    }
  }
  return 'no file: none could be written';
}

/** Throws a `UsageError` about the port of `--port`, or rethrows an error that is not about it. */
export function explainPort(error: unknown, port: number): never {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    throw new UsageError([`--port: ${port} is in use: choose another one, or leave it out for any free one`]);
  if (code === 'EACCES')
    throw new UsageError([
      `--port: ${port} needs rights that this user does not have: choose one above 1023`,
    ]);
  throw error;
}
