import { spawn } from 'node:child_process';
import { asyncScheduler, Subscription, type Observable } from 'rxjs';
import type { OutStream } from '../io/cli-io.js';
import type { SignalOrder } from '../io/listen-for-stop.js';
import { plainText } from '../messages/plain-text.js';

export interface CommandLimits {
  /** Time limit of the command, which is then killed. @defaultValue 60_000 */
  readonly commandMs?: number;
  /** How long the command may take to end after a signal. @defaultValue 5_000 */
  readonly graceMs?: number;
}

export interface CommandPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Receives what the command prints. */
  readonly stderr: Pick<OutStream, 'write'>;
}

export interface CommandEnd {
  /** What went wrong. */
  readonly problem: string | undefined;
  /** The end of what it printed, on one line. */
  readonly output: string;
}

const onWindows = process.platform === 'win32';

/**
 * Runs a command through the shell. The first stop signal asks the command, and all processes that it started, to
 * end; a second one, or the time limit, kills them.
 */
export function callCommand(
  command: string,
  { cwd, env, stderr }: CommandPlace,
  orders$: Observable<SignalOrder>,
  { commandMs = 60_000, graceMs = 5_000 }: CommandLimits,
): Promise<CommandEnd> {
  const child = spawn(command, {
    shell: true,
    cwd,
    env,
    detached: !onWindows,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const tail = new Tail();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      stderr.write(text);
      tail.add(text);
    });
  let why: string | undefined;
  const cut = (reason: string): void => {
    why ??= reason;
    signal(child.pid, 'SIGKILL');
    // Processes that it started may keep its pipes open for ever.
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const watch = new Subscription();
  watch.add(asyncScheduler.schedule(() => cut(`it was killed after ${commandMs / 1_000} s`), commandMs));
  watch.add(
    orders$.subscribe(({ how }) => {
      if (how === 'now') return cut('interrupted');
      why ??= 'interrupted';
      signal(child.pid, 'SIGTERM');
      watch.add(asyncScheduler.schedule(() => cut('interrupted'), graceMs));
    }),
  );
  return new Promise((resolve) => {
    const end = (problem: string | undefined): void => {
      watch.unsubscribe();
      // Kills child processes that ignore signals and print elsewhere.
      if (why !== undefined) signal(child.pid, 'SIGKILL');
      resolve({ problem: why ?? problem, output: tail.text() });
    };
    child.once('error', (error) => end(error.message));
    child.once('close', (code, ended) =>
      end(code === 0 ? undefined : `it ended with ${code === null ? String(ended) : `exit code ${code}`}`),
    );
  });
}

/** Signals the command and all processes that it started. */
function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(onWindows ? pid : -pid, name);
  } catch {
    // The process has just ended.
  }
}

const outputKept = 4_096;

/** Addresses, of which anything after the host may be a secret. */
const addresses = /\b([a-z][\w+.-]*:\/\/)(?:[^\s"'<>/@]*@)?([^\s"'<>/?#@]+)([/?#][^\s"'<>]*)?/gi;

/** Keeps the end of what a command printed. */
class Tail {
  private kept = '';
  private isCut = false;

  add(text: string): void {
    const all = this.kept + text;
    this.isCut ||= all.length > outputKept;
    this.kept = all.slice(-outputKept);
  }

  text(): string {
    // The first word is dropped, because it may be the rest of a secret, which would not be recognised.
    const whole = this.isCut ? `…${this.kept.replace(/^\S*\s*/, ' ')}` : this.kept;
    const masked = whole.replace(
      addresses,
      (_, scheme: string, host: string, path = '') => `${scheme}${host}${path === '' ? '' : '/…'}`,
    );
    return plainText(masked, 2 * outputKept);
  }
}
