import { spawn } from 'node:child_process';
import { asyncScheduler, Subscription, type Observable } from 'rxjs';
import type { OutStream } from '../io/cli-io.js';
import type { SignalOrder } from '../io/listen-for-stop.js';
import { plainText } from '../messages/plain-text.js';

export interface CommandLimits {
  /** A command that takes longer is killed. @defaultValue 60_000 */
  readonly commandMs?: number;
  /** So long it may take to end after a signal. @defaultValue 5_000 */
  readonly graceMs?: number;
}

export interface CommandPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where what it prints goes. */
  readonly stderr: Pick<OutStream, 'write'>;
}

export interface CommandEnd {
  /** What went wrong. */
  readonly problem: string | undefined;
  /** The last of what it printed, on one line. */
  readonly output: string;
}

const onWindows = process.platform === 'win32';

/**
 * Calls a command through the shell. The first order asks it, and all that it has started, to end; a second one kills them, as
 * does the time that they have.
 */
export function callCommand(
  command: string,
  { cwd, env, stderr }: CommandPlace,
  orders$: Observable<SignalOrder>,
  { commandMs = 60_000, graceMs = 5_000 }: CommandLimits,
): Promise<CommandEnd> {
  const child = spawn(command, {
    ...{ shell: true, cwd, env, detached: !onWindows },
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
    // What it has started may hold its pipes open for ever.
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
      // A part of it that does not listen to signals, and prints elsewhere, is not left behind.
      if (why !== undefined) signal(child.pid, 'SIGKILL');
      resolve({ problem: why ?? problem, output: tail.text() });
    };
    child.once('error', (error) => end(error.message));
    child.once('close', (code, ended) =>
      end(code === 0 ? undefined : `it ended with ${code === null ? String(ended) : `exit code ${code}`}`),
    );
  });
}

/** To it and to all that it has started. */
function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(onWindows ? pid : -pid, name);
  } catch {
    // It has just ended.
  }
}

const outputKept = 4_096;

/** Addresses: of the one of a service, what is behind its host may be its secret. */
const addresses = /\b([a-z][\w+.-]*:\/\/)(?:[^\s"'<>/@]*@)?([^\s"'<>/?#@]+)([/?#][^\s"'<>]*)?/gi;

/** The last that a command has printed. */
class Tail {
  private kept = '';
  private isCut = false;

  add(text: string): void {
    const all = this.kept + text;
    this.isCut ||= all.length > outputKept;
    this.kept = all.slice(-outputKept);
  }

  text(): string {
    // The first word may be a part of a secret, which nothing would know any more.
    const whole = this.isCut ? `…${this.kept.replace(/^\S*\s*/, ' ')}` : this.kept;
    const masked = whole.replace(
      addresses,
      (_, scheme: string, host: string, path = '') => `${scheme}${host}${path === '' ? '' : '/…'}`,
    );
    return plainText(masked, 2 * outputKept);
  }
}
