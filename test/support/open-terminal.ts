import { spawn, type IPty } from '@lydell/node-pty';
import { mainFile } from './millrace.js';
import { openScreen, type Screen } from './screen.js';

/** The built command line on a pseudo-terminal. */
export interface Terminal {
  readonly screen: Screen;
  /** Every byte so far. */
  readonly output: () => string;
  readonly process: IPty;
  /** The exit code. */
  readonly ended: Promise<number>;
}

export interface TerminalOptions {
  readonly cwd: string;
  /** 0: a terminal that says that it has no columns. @defaultValue 80 */
  readonly cols?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** What a shell does with the command, as "$@". */
  readonly script?: string;
}

/** Starts the command line as a person does. Nothing of the environment of the tests gets into it. */
export function openTerminal(
  args: readonly string[],
  { cwd, cols = 80, env, script }: TerminalOptions,
): Terminal {
  const screen = openScreen(cols || 80);
  let output = '';
  // node-pty makes no terminal without a size: `stty` takes it away.
  const asked = cols === 0 ? 'stty rows 0 cols 0; exec "$@"' : script;
  const [file, ...given] = [
    ...(asked === undefined ? [] : ['/bin/sh', '-c', asked, 'sh']),
    ...[globalThis.process.execPath, mainFile],
  ] as const;
  const { PATH, XDG_STATE_HOME } = globalThis.process.env;
  const process = spawn(file, [...given, ...args], {
    cols: cols || 80,
    rows: 30,
    cwd,
    env: { PATH, XDG_STATE_HOME, TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
  });
  process.onData((data) => {
    output += data;
    screen.feed(data);
  });
  const ended = new Promise<number>((resolve) => process.onExit(({ exitCode }) => resolve(exitCode)));
  return { screen, output: () => output, process, ended };
}
