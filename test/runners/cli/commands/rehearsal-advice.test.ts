import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { millrace, startMillrace, type MillraceEnd } from '../../../support/millrace.js';
import { until } from '../../../support/until.js';
import { openWorkplace, type Workplace } from '../../../support/workplace.js';

const pictures = fileURLToPath(new URL('../../../../samples/pictures/', import.meta.url));

describe('what a rehearsal advises, when its emulator has ended', () => {
  let work: Workplace;
  beforeEach(async () => {
    work = await openWorkplace();
    await cp(pictures, join(work.folder, 'pictures'), { recursive: true });
    await work.write('edits.csv', [
      'id,images,prompt',
      ...['a', 'b', 'c'].map((id) => `${id},pictures/boat.png,sepia ${id}`),
    ]);
  });
  afterEach(() => work.remove());

  it.each([
    ['files were not downloaded', 'picture-500=1', ['--retries', '0']],
    ['rows in doubt', 'reset-after@run=1', ['--mode', 'async']],
    ['rows past the deadline', 'stuck@run=1', ['--mode', 'async', '--timeout', '1s']],
    ['jobs failed', 'fail=1', []],
    ['rows were refused by the service', '400=1', []],
    ['rows to go', '401=1', []],
  ])('ends %s of %s by the command that it names', async (title, faults, more) => {
    const first = await call('run', 'edits.csv', '--local', '--out', 'o', '--faults', faults, ...more);
    expect(first.stdout).toContain(title);
    await followsThrough(await commandIn('o'));
  });

  it('ends what a killed one has left by the commands that it names', async () => {
    const killed = startMillrace(
      [
        'run',
        'edits.csv',
        '--local',
        '--out',
        'o',
        '--mode',
        'async',
        '--latency',
        '60000',
        '--concurrency',
        '2',
      ],
      { cwd: work.folder },
    );
    await until(async () => (await call('status', 'o')).stdout.includes('2 accepted'));
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect((await call('status', 'o')).stdout).toContain('0 of 3 rows');
    const planned = await call('plan', 'edits.csv', '--local', '--out', 'o');
    expect(planned.stdout).toContain('  going on     2 rows whose job or picture ended with the emulator\n');
    const goOn = await commandIn('o');
    const second = await call(...wordsOf(goOn.replace('--latency 60000 ', '')));
    expect(second.stderr).toContain('  this start   1 row to send, 2 left in flight by an earlier start\n');
    expect(second.stdout).toContain('2 jobs ended with the emulator');
    await followsThrough(await commandIn('o'));
  });

  it('says that rows in doubt may be charged twice, before they are sent again', async () => {
    const run = ['run', 'edits.csv', '--local', '--out', 'o', '--mode', 'async'];
    await call(...run, '--faults', 'reset-after@run=1');
    const { stderr } = await call(...run, '--retry', 'unknown');
    expect(stderr).toContain('  this start   3 rows to send (3 in doubt, which may charge twice)\n');
  });

  /** The only command of the list, in the terminal as in the report. */
  async function commandIn(folder: string): Promise<string> {
    const { stdout } = await call('status', folder);
    const commands = [...stdout.matchAll(/^ {4,}(millrace .*)$/gm)].map(([, command = '']) => command);
    expect(commands, stdout).toHaveLength(1);
    expect((await call('report', folder)).code).toBe(0);
    const page = await readFile(join(work.folder, folder, 'report.html'), 'utf8');
    const inPage = [...page.matchAll(/data-copy="(millrace [^"]*)"/g)].map(([, command = '']) => command);
    expect(inPage.map((command) => command.replaceAll(`${work.folder}/`, ''))).toEqual(commands);
    return commands[0] ?? '';
  }

  /** All rows have completed then, in the folder that the command names, and it has no more to say. */
  async function followsThrough(command: string): Promise<void> {
    const end = await call(...wordsOf(command));
    expect(end, command).toMatchObject({ code: 0 });
    const out = /--out (\S+)/.exec(command)?.[1] ?? '';
    expect(await work.lines(`${out}/results.jsonl`)).toHaveLength(3);
    expect((await call('status', out)).stdout).not.toContain('millrace ');
  }

  function call(...args: string[]): Promise<MillraceEnd> {
    return millrace(args, { cwd: work.folder });
  }
});

function wordsOf(command: string): string[] {
  return command.split(' ').slice(1);
}
