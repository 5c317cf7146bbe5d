import { asyncScheduler, type Observable } from 'rxjs';
import { redact } from '../../../src/contract/redact.js';
import { nodeDisk } from '../../batch/formats.js';
import { openLog, type Summary } from '../../batch/internal.js';
import type { CliIo } from '../io/cli-io.js';
import { listenForStop, type SignalOrder } from '../io/listen-for-stop.js';
import { plainText } from '../messages/plain-text.js';
import { maskedUrl } from '../options/parse-value.js';
import type { StartedRun } from './batch-options.js';
import { callCommand, type CommandLimits } from './call-command.js';
import { postEnd, type PostParts } from './post-end.js';

export interface EndedStart {
  readonly exitCode: number;
  readonly reason: string;
  readonly summary: Summary;
}

/** Replaced in tests. */
export type AfterRunParts = CommandLimits & PostParts;

/** How the command or the notification ended. */
interface ActionEnd {
  readonly problem?: string | undefined;
  readonly output?: string;
}

/**
 * Does what the user wants at the end of a start: runs a command, runs another command if a person has to decide about rows,
 * sends a notification. These happen one after the other, and are logged in run.log. A failure is printed, and does not change
 * the run's exit code. A signal ends the current one, and the others do not begin.
 */
export async function afterRun(run: StartedRun, ended: EndedStart, parts: AfterRunParts = {}): Promise<void> {
  const { options, io } = run;
  const stop = listenForStop(withoutHangup(io));
  try {
    for (const { name, does } of actionsOf(run, ended, parts, stop.orders$)) {
      const { problem, output } = stop.first.aborted
        ? { problem: 'interrupted before it began' }
        : await does().catch((error: unknown): ActionEnd => ({ problem: (error as Error).message }));
      const shown = problem && plainText(redact(problem, addressOf(options.notify)), 500);
      if (shown !== undefined) io.stderr.write(`warning: ${name} failed: ${shown}\n`);
      await keep(run, name, shown, output);
    }
  } finally {
    stop.close();
  }
}

/** Ignores SIGHUP, so that a closed terminal does not prevent a mail. */
function withoutHangup(io: CliIo): Pick<CliIo, 'onStop'> {
  return {
    onStop: (listener) =>
      io.onStop((signal) => {
        if (signal !== 'SIGHUP') listener(signal);
      }),
  };
}

function actionsOf(
  run: StartedRun,
  ended: EndedStart,
  parts: AfterRunParts,
  orders$: Observable<SignalOrder>,
): { readonly name: string; readonly does: () => Promise<ActionEnd> }[] {
  const { onEnd, onHold, notify } = run.options;
  const isHeld = (ended.summary.failures.unknown ?? 0) > 0;
  const call = (command: string): Promise<ActionEnd> =>
    callCommand(
      command,
      { cwd: run.io.cwd, env: environment(run, ended), stderr: run.io.stderr },
      orders$,
      parts,
    );
  return [
    ...(onEnd === undefined ? [] : [{ name: '--on-end', does: () => call(onEnd) }]),
    ...(onHold === undefined || !isHeld ? [] : [{ name: '--on-hold', does: () => call(onHold) }]),
    ...(notify === undefined
      ? []
      : [
          {
            name: `--notify ${maskedUrl(notify)}`,
            does: async () => ({
              problem: await postEnd(notify, endedText(run, ended), run.io, orders$, parts),
            }),
          },
        ]),
  ];
}

function endedText({ out }: StartedRun, { exitCode, reason, summary }: EndedStart): string {
  return JSON.stringify({ event: 'run.ended', out, exitCode, reason, summary });
}

/** Only the host of an address, because anything after it may be a secret. */
function addressOf(url: string | undefined): string[] {
  if (url === undefined) return [];
  const { pathname, search } = new URL(url);
  return [`${pathname}${search}`.slice(1), pathname.slice(1)];
}

/** The environment variables that the command does not receive. */
const secrets = ['MILLRACE_API_KEY', 'MILLRACE_NOTIFY_SECRET'];

function environment(
  { out, io }: StartedRun,
  { exitCode, reason }: EndedStart,
): Record<string, string | undefined> {
  return {
    ...Object.fromEntries(Object.entries(io.env).filter(([name]) => !secrets.includes(name))),
    MILLRACE_OUT: out,
    MILLRACE_EXIT_CODE: String(exitCode),
    MILLRACE_REASON: reason,
    MILLRACE_SUMMARY: `${out}/summary.json`,
  };
}

/** Variables with such names hold values that no log may show. */
const secretName = /KEY|TOKEN|SECRET|PASSWORD/i;

/** Writes a line to run.log. The command may have moved the folder away: then nothing is logged. */
async function keep(
  { out, io, fault }: StartedRun,
  name: string,
  problem: string | undefined,
  output: string | undefined,
): Promise<void> {
  const hidden = Object.entries(io.env).flatMap(([name, value]) =>
    secretName.test(name) && value ? [value] : [],
  );
  const scheduler = io.scheduler ?? asyncScheduler;
  const log = await openLog({
    disk: nodeDisk,
    folder: out,
    now: () => scheduler.now(),
    secrets: [...fault.secrets, ...hidden],
  });
  log.write(
    problem === undefined ? 'info' : 'warn',
    output ? { output } : {},
    problem === undefined ? `${name} ended` : `${name} failed: ${problem}`,
  );
  await log.close();
}
