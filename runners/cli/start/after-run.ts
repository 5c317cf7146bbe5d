import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { asyncScheduler, lastValueFrom, timer } from 'rxjs';
import { retryDelayMs } from '../../../src/policy/retry-delay.js';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import {
  phaseTimeouts,
  wireHeaders,
  type Transport,
  type WireReply,
  type WireRequest,
} from '../../../src/transport/transport.js';
import type { Summary } from '../../batch/internal.js';
import { redact } from '../../../src/contract/redact.js';
import { maskedUrl } from '../options/parse-value.js';
import { plainText } from '../messages/plain-text.js';
import type { StartedRun } from './batch-options.js';

/** How a start has ended. */
export interface EndedStart {
  readonly exitCode: number;
  readonly reason: string;
  readonly summary: Summary;
}

/** What may be replaced in tests. */
export interface AfterRunParts {
  /** A command that takes longer is killed. @defaultValue 60_000 */
  readonly commandMs?: number;
  /** @defaultValue one over got */
  readonly transport?: Transport;
  readonly random?: () => number;
}

/**
 * What the user wants to happen when a start has ended: a command, another one where a person has to decide about rows, a
 * notification. One after the other; what fails is printed, and changes nothing of the run or of its exit code.
 */
export async function afterRun(run: StartedRun, ended: EndedStart, parts: AfterRunParts = {}): Promise<void> {
  const { options, io } = run;
  const { onEnd, onHold, notify } = options;
  const isHeld = (ended.summary.failures.unknown ?? 0) > 0;
  const actions = [
    ...(onEnd === undefined ? [] : [{ name: '--on-end', does: () => callCommand(onEnd, run, ended, parts) }]),
    ...(onHold === undefined || !isHeld
      ? []
      : [{ name: '--on-hold', does: () => callCommand(onHold, run, ended, parts) }]),
    ...(notify === undefined
      ? []
      : [{ name: `--notify ${maskedUrl(notify)}`, does: () => post(notify, run, ended, parts) }]),
  ];
  for (const { name, does } of actions) {
    const problem = await does().catch((error: unknown) => (error as Error).message);
    if (problem === undefined) continue;
    const shown = plainText(redact(problem, addressOf(notify)), 500);
    io.stderr.write(`warning: ${name} failed: ${shown}\n`);
  }
}

/** Of an address whatever is behind its host may be its secret. */
function addressOf(url: string | undefined): string[] {
  if (url === undefined) return [];
  const { pathname, search } = new URL(url);
  return [`${pathname}${search}`.slice(1), pathname.slice(1)];
}

const commandMs = 60_000;
/** They stay in this process. */
const secrets = ['MILLRACE_API_KEY', 'MILLRACE_NOTIFY_SECRET'];

/** Calls a command through the shell. What it prints goes to stderr. Resolves to what went wrong. */
function callCommand(
  command: string,
  { out, io }: StartedRun,
  { exitCode, reason }: EndedStart,
  { commandMs: limitMs = commandMs }: AfterRunParts,
): Promise<string | undefined> {
  const env = Object.fromEntries(Object.entries(io.env).filter(([name]) => !secrets.includes(name)));
  const child = spawn(command, {
    ...{
      shell: true,
      cwd: io.cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    },
    env: {
      ...env,
      MILLRACE_OUT: out,
      MILLRACE_EXIT_CODE: String(exitCode),
      MILLRACE_REASON: reason,
      MILLRACE_SUMMARY: `${out}/summary.json`,
    },
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => io.stderr.write(bytes.toString()));
  return new Promise((resolve) => {
    let isLate = false;
    const late = asyncScheduler.schedule(() => {
      isLate = true;
      kill(child.pid);
      // What it has started may hold its pipes open for ever.
      child.stdout.destroy();
      child.stderr.destroy();
    }, limitMs);
    const end = (problem: string | undefined): void => {
      late.unsubscribe();
      resolve(isLate ? `it was killed after ${limitMs / 1_000} s` : problem);
    };
    child.once('error', (error) => end(error.message));
    child.once('close', (code, signal) =>
      end(code === 0 ? undefined : `it ended with ${code === null ? String(signal) : `exit code ${code}`}`),
    );
  });
}

/** With all that it has started. */
function kill(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

const mostTries = 4;
const answerMs = 10_000;

/** Posts how the run ended as JSON, signed where a secret is known. Resolves to what went wrong. */
async function post(
  url: string,
  { out, io }: StartedRun,
  { exitCode, reason, summary }: EndedStart,
  { transport = createGotTransport(), random = Math.random }: AfterRunParts,
): Promise<string | undefined> {
  const body = JSON.stringify({ event: 'run.ended', out, exitCode, reason, summary });
  const scheduler = io.scheduler ?? asyncScheduler;
  const at = Math.floor(scheduler.now() / 1_000);
  const headers = {
    ...wireHeaders(undefined, true),
    ...signature(body, at, io.env['MILLRACE_NOTIFY_SECRET']),
  };
  const request: WireRequest = {
    ...{ method: 'POST' as const, url, headers, body, paid: false, maxReplyBytes: 64 << 10 },
    timeouts: phaseTimeouts(answerMs, { requestMs: 2 * answerMs }),
  };
  try {
    for (let tries = 1; ; tries++) {
      const { problem, isFinal } = await lastValueFrom(transport(request)).then(problemIn, unsent);
      if (problem === undefined || isFinal || tries === mostTries) return problem;
      await lastValueFrom(timer(retryDelayMs({ why: 'transient' }, tries, random), scheduler));
    }
  } finally {
    transport.close?.();
  }
}

interface Answered {
  readonly problem: string | undefined;
  readonly isFinal: boolean;
}

function unsent(error: unknown): Answered {
  return { problem: (error as Error).message, isFinal: false };
}

function problemIn({ status }: WireReply): Answered {
  if (status >= 200 && status < 300) return { problem: undefined, isFinal: true };
  const mayPass = status === 408 || status === 429 || status >= 500;
  return { problem: `it answered HTTP ${status}`, isFinal: !mayPass };
}

/** As many services sign: the time and the body by HMAC-SHA256, so that an old notification cannot be sent again. */
function signature(body: string, at: number, secret: string | undefined): Record<string, string> {
  if (secret === undefined || secret === '') return {};
  const hash = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  return { 'Millrace-Signature': `t=${at},v1=${hash}` };
}
