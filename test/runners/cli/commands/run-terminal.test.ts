import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../../../runners/emulator/index.js';
import { millrace } from '../../../support/millrace.js';
import { openTerminal, type Terminal } from '../../../support/open-terminal.js';
import { until } from '../../../support/until.js';
import { openWorkplace, type Workplace } from '../../../support/workplace.js';

const key = 'a-key-of-ours';
const samples = fileURLToPath(new URL('../../../../samples/', import.meta.url));

describe('millrace run on a terminal', () => {
  let work: Workplace;
  let emulator: Emulator;
  beforeEach(async () => {
    work = await openWorkplace();
    emulator = await startEmulator({ key, workers: 2 });
  });
  afterEach(async () => {
    await emulator.close();
    await work.remove();
  });

  const open = (
    args: readonly string[],
    cols: number,
    env: Record<string, string> = {},
    script?: string,
  ): Terminal => {
    const service = { MILLRACE_API_KEY: key, MILLRACE_BASE_URL: emulator.baseUrl };
    return openTerminal(args, {
      cwd: work.folder,
      cols,
      env: { ...service, ...env },
      ...(script && { script }),
    });
  };

  const jobs = (count: number, sleepMs: number) =>
    Array.from({ length: count }, (_, n) =>
      JSON.stringify({ id: `j${n}`, endpoint: 'echo', input: { n, sleepMs } }),
    );
  const edits = (count: number) => [
    'images,prompt,resolution',
    ...Array.from({ length: count }, (_, n) => `http://127.0.0.1:1/${n}.png,p,4k`),
  ];

  it.each([80, 40])('shows one calm display in %i columns, and takes it away at the end', async (cols) => {
    await work.write('rows.jsonl', jobs(12, 300));
    const terminal = open(['run', 'rows.jsonl'], cols);
    await until(
      () =>
        /\d of 12 rows +[━─]+ +\d+ %/.test(terminal.screen.lines().join('\n')) &&
        terminal.output().includes('in flight ('),
    );
    expect(await terminal.ended).toBe(0);
    const lines = terminal.screen.lines();
    expect(lines).toContain('  completed    12 of 12 rows');
    expect(lines.join('\n')).not.toMatch(/[━─]|in flight/);
    expect(terminal.screen.strange).toEqual([]);
    expect(framesOf(terminal.output()).every((frame) => fitsIn(cols, frame))).toBe(true);
  });

  it('takes a terminal of 0 × 0, as some that are no screen are, for one of 80 columns', async () => {
    await work.write('rows.jsonl', jobs(12, 300));
    const terminal = open(['run', 'rows.jsonl'], 0);
    await until(() => terminal.output().includes('in flight ('));
    expect(await terminal.ended).toBe(0);
    expect(terminal.output()).not.toContain('Infinity');
    expect(terminal.screen.strange).toEqual([]);
    expect(terminal.screen.lines()).toContain('  completed    12 of 12 rows');
    expect(terminal.screen.lines().join('\n')).not.toMatch(/[━─]|in flight/);
    expect(framesOf(terminal.output()).every((frame) => fitsIn(80, frame))).toBe(true);
  });

  it('follows a terminal that becomes narrow', async () => {
    await work.write('rows.jsonl', jobs(12, 300));
    const terminal = open(['run', 'rows.jsonl'], 80);
    await until(() => terminal.output().includes('in flight'));
    terminal.process.resize(40, 30);
    const seen = framesOf(terminal.output()).length;
    const later = () => framesOf(terminal.output()).slice(seen);
    const isNarrow = (frame: string) => fitsIn(40, frame);
    await until(() => later().some(isNarrow));
    expect(await terminal.ended).toBe(0);
    expect(later().slice(later().findIndex(isNarrow)).every(isNarrow)).toBe(true);
  });

  it.each([80, 40])(
    'ends in %i columns with one group for one cause, how long it took, and commands that are not cut',
    async (cols) => {
      const rows = Array.from({ length: 28 }, (_, n) => `row-${n},http://127.0.0.1:1/${n}.png,`);
      await work.write('words.csv', ['id,images,prompt', ...rows, 'gone-a,http://127.0.0.1:1/a.png,sepia']);
      const args = ['run', 'words.csv', '--endpoint', 'image-edit', '--skip-invalid', '--retries', '0'];
      const terminal = open(args, cols);
      expect(await terminal.ended).toBe(1);
      const { lines, wraps } = { lines: terminal.screen.lines(), wraps: terminal.screen.wraps };
      expect(wraps).toBe(0);
      // A command that goes on is one for the shell.
      const text = lines
        .join('\n')
        .replaceAll(/ \\\n +/g, ' ')
        .replaceAll(/\n +/g, ' ');
      expect(text.match(/28 rows are invalid/g)).toHaveLength(1);
      expect(text).not.toMatch(/(?<!28 )rows are invalid/);
      expect(text).toMatch(/ took +(under )?\d+ s/);
      expect(text).toMatch(
        /millrace run words\.csv --out words\.out --base-url http:\S+ .*--endpoint image-edit .*--retry rejected/,
      );
    },
  );

  it('says of a rehearsal, while it goes and at its end, that nothing was spent', async () => {
    await work.write('rows.jsonl', jobs(6, 300));
    const terminal = open(['run', 'rows.jsonl', '--local'], 80, { MILLRACE_BASE_URL: '' });
    await until(() => terminal.output().includes('in flight ('));
    expect(await terminal.ended).toBe(0);
    expect(framesOf(terminal.output()).every((frame) => frame.includes('rehearsal, nothing spent'))).toBe(
      true,
    );
    expect(terminal.screen.lines().join('\n')).toMatch(/cost +rehearsal, nothing spent/);
    expect(terminal.output()).not.toMatch(/\$[\d.]+ spent/);
  });

  it('counts what is paid and not downloaded apart from what failed, while it goes and at its end', async () => {
    const lossy = await startEmulator({ key, faults: 'picture-500=1', files: samples });
    const rows = ['boat', 'city', 'cat'].map((name) => `${lossy.baseUrl}/files/pictures/${name}.png,sepia`);
    await work.write('edits.csv', ['images,prompt', ...rows, `${lossy.baseUrl}/files/none.png,sepia`]);
    const args = [
      'run',
      'edits.csv',
      '--endpoint',
      'image-edit',
      '--retries',
      '0',
      '--concurrency',
      '1',
      '--rate',
      '2',
    ];
    const terminal = open(args, 100, { MILLRACE_BASE_URL: lossy.baseUrl });
    expect(await terminal.ended).toBe(1);
    await lossy.close();
    const frames = framesOf(terminal.output()).join('\n');
    expect(frames).toMatch(/0 failed .*\d not downloaded/);
    expect(frames).not.toMatch(/[2-9] failed/);
    const text = terminal.screen.lines().join('\n');
    expect(text).toMatch(/^ {2}failed +1 {3}rejected 1\n {2}paid +3 {3}still to be downloaded$/m);
    expect(text).not.toContain('  next ');
  });

  it('ends with the report as the next thing to open', async () => {
    const args = ['run', join(samples, 'edits.csv'), '--local', '--out', 'o'];
    const terminal = open(args, 100, { MILLRACE_BASE_URL: '' });
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen.lines()).toContain('  next         open o/report.html to review the pictures');
  });

  it('names neither pace nor time left while nothing moves, but why', async () => {
    // The first four are done at once, the others never.
    let begun = 0;
    const work1 = () => (++begun > 4 ? new Promise(() => undefined) : {});
    const still = await startEmulator({ key, workers: 8, functions: { queue: { still: work1 } } });
    await work.write(
      'rows.jsonl',
      Array.from({ length: 12 }, (_, n) => JSON.stringify({ id: `j${n}`, endpoint: 'still', input: { n } })),
    );
    const args = ['run', 'rows.jsonl', '--concurrency', '4', '--mode', 'async'];
    const terminal = open(args, 80, { MILLRACE_BASE_URL: still.baseUrl });
    await until(() =>
      terminal.screen.lines().some((line) => line.startsWith('jobs at work, none has ended')),
    );
    const lines = terminal.screen.lines();
    expect(lines.find((line) => line.startsWith('4 completed'))).toMatch(
      /4 in flight \(4 last seen working\)/,
    );
    expect(lines.join('\n')).not.toMatch(/ left|rows\/min/);
    const readStatus = async (): Promise<string[]> => {
      const status = open(['status', 'rows.out'], 60);
      expect(await status.ended).toBe(0);
      return status.screen.lines();
    };
    const isWaiting = (line: string): boolean => line.startsWith('  waiting ');
    let words = await readStatus();
    // The file that status reads is written once a second: it may be older than the frame.
    while (!words.some(isWaiting) && !/for 2\d s/.test(words[0] ?? '')) words = await readStatus();
    expect(words.find(isWaiting)).toMatch(/jobs at work, none has ended for \d/);
    expect(words.join('\n')).not.toMatch(/pace| left|a minute/);
    expect(words[0]).toMatch(/^rows\.out: running as process \d/);
    terminal.process.kill('SIGKILL');
    await terminal.ended;
    await still.close();
  });

  it('says that the limit was lowered while more than it are in flight', async () => {
    let asked = 0;
    const busy = await startEmulator({
      key,
      workers: 1,
      latency: 'fixed:10m',
      faultOf: ({ operation }) => (operation === 'run' && ++asked > 14 ? '429:1' : ''),
    });
    await work.write('rows.jsonl', jobs(60, 0));
    const terminal = open(['run', 'rows.jsonl', '--mode', 'async'], 80, { MILLRACE_BASE_URL: busy.baseUrl });
    await until(() => terminal.screen.lines().some((line) => line.includes('concurrency lowered to')));
    terminal.process.kill('SIGKILL');
    await terminal.ended;
    await busy.close();
  });

  it('uses no colour with NO_COLOR', async () => {
    await work.write('rows.jsonl', jobs(2, 50));
    const terminal = open(['run', 'rows.jsonl'], 80, { NO_COLOR: '1' });
    expect(await terminal.ended).toBe(0);
    expect(terminal.output()).not.toMatch(/\u001b\[[\d;]*m/);
  });

  it('asks above $25, and sends nothing after a no', async () => {
    await work.write('edits.csv', edits(200));
    const terminal = open(['run', 'edits.csv', '--endpoint', 'image-edit'], 80);
    await until(() => terminal.output().includes('This may cost $35.00. Go on? [y/N]'));
    terminal.process.write('n\r');
    expect(await terminal.ended).toBe(2);
    expect(terminal.output()).toContain('not started, nothing was sent');
    expect(emulator.bill()).toEqual([]);
  });

  it('does not take what was typed before the question for an answer', async () => {
    await work.write('edits.csv', edits(200));
    const terminal = open(['run', 'edits.csv', '--endpoint', 'image-edit'], 80);
    terminal.process.write('y\r');
    await until(() => terminal.output().includes('[y/N]'));
    terminal.process.write('\r');
    expect(await terminal.ended).toBe(2);
    expect(emulator.bill()).toEqual([]);
  });

  it('takes Ctrl-C at the question for an interruption', async () => {
    await work.write('edits.csv', edits(200));
    const terminal = open(['run', 'edits.csv', '--endpoint', 'image-edit'], 80);
    await until(() => terminal.output().includes('[y/N]'));
    terminal.process.write('\u0003');
    expect(await terminal.ended).toBe(130);
    expect(emulator.bill()).toEqual([]);
  });

  it.each([
    ['while it runs', 12, 'in flight (', [129]],
    // The shell hands the signal on, mostly after the end of the input.
    ['at the question', 200, '[y/N]', [2, 129]],
  ])('ends in order when its terminal closes %s, and does not abort', async (_, rows, seen, codes) => {
    await (rows > 100 ? work.write('rows.csv', edits(rows)) : work.write('rows.jsonl', jobs(rows, 300)));
    const command = rows > 100 ? ['rows.csv', '--endpoint', 'image-edit'] : ['rows.jsonl'];
    const script = `trap 'kill -HUP $!' HUP; "$@" < /dev/tty & wait; wait $!; echo $? > code`;
    const terminal = open(['run', ...command], 80, {}, script);
    await until(() => terminal.output().includes(seen));
    (terminal.process as unknown as { destroy(): void }).destroy();
    await until(() => work.json('code').then(Boolean, () => false));
    expect(codes).toContain(await work.json('code'));
  });

  it('writes the same run into a file without a control character, and few lines', async () => {
    await work.write('rows.jsonl', jobs(12, 300));
    const env = { MILLRACE_API_KEY: key, MILLRACE_BASE_URL: emulator.baseUrl };
    const { stderr, stdout } = await millrace(['run', 'rows.jsonl'], { cwd: work.folder, env });
    expect(stderr + stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
    expect(stderr.split('\n').filter((line) => line.includes('in flight'))).toHaveLength(1);
  });
});

/** What was drawn, each time. */
function framesOf(output: string): string[] {
  return output.split('\u001b[J').filter((frame) => frame.includes('in flight') && !frame.includes('kinds'));
}

function fitsIn(columns: number, frame: string): boolean {
  return frame.split('\n').every((line) => line.replace(/\u001b\[[\d;?]*[A-Za-z]|\r/g, '').length < columns);
}
