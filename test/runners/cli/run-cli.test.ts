import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../../runners/batch/stop/worst-end.js';
import { runCli } from '../../../runners/cli/run-cli.js';
import { endings } from '../../../runners/report/messages/status-label.js';
import { version } from '../../../src/contract/version.js';
import { mainFile } from '../../support/millrace.js';

async function call(...argv: string[]) {
  const [stdout, stderr] = [new PassThrough({ encoding: 'utf8' }), new PassThrough({ encoding: 'utf8' })];
  const code = await runCli(argv, {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env: {},
    cwd: '/nowhere',
    onStop: () => () => undefined,
    onFault: () => undefined,
  });
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

const numbersIn = (text: string): number[] => (text.match(/\b\d+\b/g) ?? []).map(Number);
const ascending = (codes: readonly number[]): number[] => [...new Set(codes)].sort((a, b) => a - b);

/** The first column of README.md's table. */
async function exitCodesOfReadme(): Promise<number[]> {
  const [table = ''] = /\| exit +\| meaning[^]*?\n\n/.exec(await readFile('README.md', 'utf8')) ?? [];
  return ascending(table.split('\n').flatMap((line) => numbersIn(/^\|([ \d,]+)\|/.exec(line)?.[1] ?? '')));
}

/** What the built command line prints, and its exit code, in a folder that is gone when it starts. */
async function inFolderThatIsGone(...args: string[]) {
  const script = 'cd "$(mktemp -d)" && rmdir "$PWD" && exec "$@"';
  const child = spawn('/bin/sh', ['-c', script, 'sh', process.execPath, mainFile, ...args]);
  const [out, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ]);
  return { code, out, stderr };
}

it.skipIf(process.platform === 'win32')(
  'says that the current folder is gone, and prints help there',
  async () => {
    expect(await inFolderThatIsGone('plan', resolve('samples/edits.csv'), '--local')).toEqual({
      code: 2,
      out: '',
      stderr: 'error: the current folder is gone or closed to you (ENOENT): cd to another one\n',
    });
    expect(await inFolderThatIsGone('--help')).toMatchObject({ code: 0, stderr: '' });
  },
);

describe('runCli', () => {
  it('names the exit codes that the README names, as the live page does', async () => {
    const codes = await exitCodesOfReadme();
    expect(codes).toEqual(expect.arrayContaining([0, ...Object.values(exitCodes)]));
    const [, inHelp = ''] = /^Exit codes: ([^]*?)\. /m.exec((await call('run', '--help')).stdout) ?? [];
    expect(ascending(numbersIn(inHelp))).toEqual(codes);
    expect(ascending([0, ...Object.keys(endings).map(Number)])).toEqual(codes);
  });

  it('explains exit code 3 by the same words everywhere: not only caps give it', async () => {
    const { stdout } = await call('run', '--help');
    expect(stdout.replace(/\s+/g, ' ')).toContain(` 3 ${endings[3]}, `);
    const [, inReadme] = /^\| 3 +\| stopped: (.*?) +\|$/m.exec(await readFile('README.md', 'utf8')) ?? [];
    expect(inReadme).toBe(endings[3]);
  });

  it('tells its version and its commands', async () => {
    expect(await call('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    const { code, stdout } = await call('--help');
    expect(code).toBe(0);
    for (const command of ['plan', 'run', 'status', 'report', 'settle', 'refetch', 'pick', 'serve', 'init']) {
      expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    }
  });

  it('shows every option of a command however its help is asked for', async () => {
    const { stdout } = await call('run', '--help');
    expect(stdout).toMatch(/^ +--max-cost <.*^ +--no-download /ms);
    expect((await call('help', 'run')).stdout).toBe(stdout);
    expect((await call('run', '--quiet', '--help')).stdout).toBe(stdout);
  });

  it('opens neither stream for a help that can be printed as a page', async () => {
    const pages: string[] = [];
    const opened = (): never => {
      throw new Error('a stream was opened');
    };
    const code = await runCli(['run', '--help'], {
      get stdin() {
        return opened();
      },
      get stdout() {
        return opened();
      },
      get stderr() {
        return opened();
      },
      printPage: (text) => void pages.push(text),
      env: {},
      cwd: '/nowhere',
      onStop: () => () => undefined,
      onFault: () => undefined,
    });
    expect({ code, text: pages.join('') }).toEqual({ code: 0, text: (await call('run', '--help')).stdout });
  });

  it('prints the same help into a pipe, a file, and a pipe that nobody reads to its end', async () => {
    const { stdout: help } = await call('--help');
    const inShell = async (command: string): Promise<string> => {
      const env = { PATH: process.env['PATH'], NODE: process.execPath, MAIN: mainFile };
      return text(spawn('bash', ['-c', command], { env }).stdout);
    };
    expect(await inShell('"$NODE" "$MAIN" --help')).toBe(help);
    expect(await inShell('out=$(mktemp); "$NODE" "$MAIN" --help >"$out"; cat "$out"; rm "$out"')).toBe(help);
    expect(await inShell('"$NODE" "$MAIN" --help | head -c 20; echo "${PIPESTATUS[0]}"')).toBe(
      `${help.slice(0, 20)}0\n`,
    );
  });

  it('ends with 70 and says so where node has nothing left to wait for before a command has ended', async () => {
    const hang = "import fs from 'node:fs/promises'; fs.stat = () => new Promise(() => {});";
    const argv = ['--import', `data:text/javascript,${hang}`, mainFile, 'plan', 'samples/edits.csv'];
    const child = spawn(process.execPath, argv);
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect({ code, stderr }).toEqual({
      code: 70,
      stderr: expect.stringContaining('Start it again to continue.') as string,
    });
  });

  it('shows the help and exits 2 when no command is named', async () => {
    const { code, stdout, stderr } = await call();
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: millrace');
  });

  it.each([
    [['pln'], "unknown command 'pln'\n(Did you mean plan?)"],
    [['run', 'a.csv', '--concurency', '3'], "unknown option '--concurency'\n(Did you mean --concurrency?)"],
    [
      ['run', 'a.csv', '--quiet', '--no-downlod'],
      "unknown option '--no-downlod'\n(Did you mean --no-download?)",
    ],
    [['plan'], "missing required argument 'manifest'"],
    [['status'], 'name the output folder of a run, as in: millrace status edits.out'],
    [['--max-cost', '5', 'run', 'a.csv'], 'options stand behind the command'],
    [['run', 'a.csv', '--verbose'], 'its options: millrace run --help'],
    [['version'], 'the commands: millrace --help'],
    [['plan', 'a.csv', 'b.csv'], "too many arguments for 'plan'"],
    [['run', 'a.csv', '--timeout'], "option '--timeout <D>' argument missing"],
    [['plan', 'a.csv'], 'manifest "a.csv": there is no such file'],
    [['run', 'a.csv', '--api-key', 'x'], "unknown option '--api-key'"],
    [
      ['status', '-my edits.out'],
      "unknown option '-my edits.out'\n  a path that begins with a dash is written with ./ before it\n",
    ],
    [['init', 'pictures'], "required option '--prompt <TEXT>' not specified"],
    [['status', 'a.out'], '"a.out": there is no such folder'],
    [['settle', 'a.out', 'id'], 'one of --job ID, --paid USD and --not-sent'],
    [['settle', 'a.out', 'id', '--not-sent', '--job', 'x'], 'one of --job ID, --paid USD and --not-sent'],
    [['serve', '--faults', 'nonsense=1'], '--faults: fault "nonsense=1" has an unknown fault'],
    [['serve', '--latency', 'soon'], '--latency: latency "soon" is none of'],
    [
      ['serve', '--functions', 'nowhere.mjs'],
      '--functions: the functions module /nowhere/nowhere.mjs does not load',
    ],
  ])('%j exits 2 and says why', async (argv, why) => {
    const { code, stdout, stderr } = await call(...argv);
    expect(stderr).toContain(why);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it.each(['undo', 'upgrade'])('does not pretend to know "%s"', async (command) => {
    expect((await call(command)).stderr).toContain(`unknown command '${command}'`);
  });
});
