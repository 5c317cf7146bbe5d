import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runCli } from '../../runners/cli/run-cli.js';
import type { PageParts } from '../../runners/report/render-page.js';
import { pageParts } from './page-parts.js';

/** The built command line. */
export const mainFile = fileURLToPath(new URL('../../dist/runners/cli/main.js', import.meta.url));

export interface MillraceOptions {
  readonly cwd?: string;
  /** Added to an environment that names no service, no key and no colours. */
  readonly env?: Record<string, string>;
  /** What stdin holds; it ends after that, at once without it. */
  readonly input?: string;
}

export interface MillraceEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface MillraceProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<MillraceEnd>;
  /** Resolves with all of stdout so far when stderr or stdout holds the text; rejects when the process ends without it. */
  prints(text: string): Promise<string>;
}

let parts: Promise<PageParts> | undefined;

/** Runs the command line to its end, in this process: from the arguments to the exit code, with all that it prints. */
export async function millrace(
  args: readonly string[],
  { cwd = process.cwd(), env = {}, input = '' }: MillraceOptions = {},
): Promise<MillraceEnd> {
  const [stdout, stderr] = [keepText(), keepText()];
  const code = await runCli(args, {
    stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: { ...bareEnvironment(), ...env },
    cwd,
    pageParts: () => (parts ??= pageParts()),
    onStop: () => () => undefined,
    onFault: () => undefined,
  });
  return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
}

function keepText(): { readonly stream: Writable; readonly text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}

/**
 * Starts the built command line as a process of its own: for signals, terminals, pipes, locks and crashes. All else is
 * tested by `millrace`, which is ten times as fast and always tests the code as it stands.
 */
export function startMillrace(args: readonly string[], options: MillraceOptions = {}): MillraceProcess {
  const child = spawn(process.execPath, [mainFile, ...args], {
    cwd: options.cwd,
    env: { ...bareEnvironment(), ...options.env },
  });
  const text = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
      for (const watch of watchers) watch();
    });
  }
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const ended = new Promise<MillraceEnd>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...text }));
  });
  return { child, ended, prints: (wanted) => waitFor(wanted) };

  function waitFor(wanted: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const watch = () => {
        if (!text.stdout.includes(wanted) && !text.stderr.includes(wanted)) return;
        watchers.delete(watch);
        resolve(text.stdout);
      };
      watchers.add(watch);
      void ended.then(
        (end) => reject(new Error(`ended without "${wanted}": ${JSON.stringify(end)}`)),
        reject,
      );
      watch();
    });
  }
}

/** Nothing of the person who runs the tests gets into them: `XDG_STATE_HOME` is the one of `own-state.ts`. */
function bareEnvironment(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'SystemRoot', 'XDG_STATE_HOME'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), LANG: 'C.UTF-8' };
}
