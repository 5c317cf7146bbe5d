import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asScript } from '../../../support/as-script.js';

const holderScript = asScript(new URL('holder.ts', import.meta.url));
const children: ChildProcessWithoutNullStreams[] = [];
let folder: string;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'millrace-lock-')), 'edits.out');
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(join(folder, '..'), { recursive: true });
});

interface Holder {
  readonly child: ChildProcessWithoutNullStreams;
  readonly printed: string;
}

async function start(): Promise<Holder> {
  const child = spawn(process.execPath, [...holderScript, folder]);
  children.push(child);
  const [printed] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, printed };
}

describe('holdRun, between processes', () => {
  it('refuses the second one, and names the first [fault 19]', async () => {
    const first = await start();
    expect(first.printed).toBe('held');
    const second = JSON.parse((await start()).printed) as { code: string; message: string; pid: number };
    expect(second).toMatchObject({ code: 'held', pid: first.child.pid });
    expect(second.message).toContain(`process ${first.child.pid} on host`);
    expect(second.message).toContain('run edits.csv');
    expect(second.message).toContain(folder);
  });

  it('is free at once when its owner is killed with kill -9 [fault 19]', async () => {
    for (let round = 0; round < 3; round++) {
      const owner = await start();
      expect(owner.printed).toBe('held');
      owner.child.kill('SIGKILL');
      await once(owner.child, 'exit');
      expect(await readdir(folder)).toContain('.owner.json');
    }
    expect((await start()).printed).toBe('held');
  });

  it('is free after a release, which takes the owner file away', async () => {
    const first = await start();
    const owner = JSON.parse(await readFile(join(folder, '.owner.json'), 'utf8')) as {
      pid: number;
      command: string;
    };
    expect(owner).toMatchObject({ pid: first.child.pid, command: 'run edits.csv' });
    first.child.stdin.end();
    await once(first.child, 'exit');
    expect(await readdir(folder)).toEqual(['.lock', 'journal.jsonl']);
    expect((await start()).printed).toBe('held');
  });

  it.each([[['.lock']], [['.lock', '.owner.json']]])('is not to be had by removing %j', async (names) => {
    const first = await start();
    for (const name of names) await rm(join(folder, name));
    const second = JSON.parse((await start()).printed) as { code: string; pid?: number };
    expect(second.code).toBe('held');
    if (!names.includes('.owner.json')) expect(second.pid).toBe(first.child.pid);
    first.child.stdin.end();
    await once(first.child, 'exit');
    expect((await start()).printed).toBe('held');
  });

  it('goes to one alone of many that start together', async () => {
    const printed = await Promise.all(Array.from({ length: 6 }, async () => (await start()).printed));
    expect(printed.filter((line) => line === 'held')).toHaveLength(1);
    expect(printed.filter((line) => line.includes('"code":"held"'))).toHaveLength(5);
  });
});
