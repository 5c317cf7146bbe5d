import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startOtherServer } from '../../../support/other-server.js';
import { runFolder, type RunFolder } from '../../../support/run-folder.js';

const rows = Array.from({ length: 12 }, (_, n) => ({
  id: `r${n}`,
  endpoint: 'image-edit',
  images: ['https://pictures.example.test/a.png'],
  prompt: `r${n}`,
}));

type Change = (folder: RunFolder) => void;

/** As rsync, Dropbox, `git checkout` and most editors write: a new file, then a rename. */
function replaceByCopy(path: string): void {
  writeFileSync(`${path}.new`, readFileSync(path));
  renameSync(`${path}.new`, path);
}

const changes: [string, Change][] = [
  ['the folder is moved', ({ out }) => renameSync(out, `${out}.old`)],
  ['the folder is removed', ({ out }) => rmSync(out, { recursive: true, maxRetries: 10, retryDelay: 5 })],
  [
    'the folder is moved and an empty one made',
    ({ out }) => {
      renameSync(out, `${out}.old`);
      mkdirSync(out);
    },
  ],
  [
    'the folder is replaced by a copy of it',
    ({ out }) => {
      renameSync(out, `${out}.old`);
      // A picture that is just being saved has another name in a moment.
      cpSync(`${out}.old`, out, { recursive: true, filter: (path) => !path.endsWith('.part') });
    },
  ],
  ['the journal is replaced by a copy of it', ({ out }) => replaceByCopy(join(out, 'journal.jsonl'))],
  [
    'the journal and both lock files are replaced',
    ({ out }) => {
      for (const name of ['journal.jsonl', '.lock', '.owner.json']) replaceByCopy(join(out, name));
    },
  ],
];

/** Changes the folder when the first row has ended, and starts the same command a second time at once. */
async function changedRun(change: Change) {
  const service = await startOtherServer();
  const folder = runFolder();
  folder.manifest(rows);
  let second: Promise<{ exitCode: number; reason: string }> | undefined;
  service.behave = (row, { nth }) => {
    if (row === 'r3' && nth === 1 && second === undefined) {
      change(folder);
      second = folder.run(service);
    }
    return 'complete';
  };
  const first = await folder.run(service, { concurrency: 1 });
  return { service, folder, first, second: await second };
}

describe('under a run that goes on', () => {
  it.each(changes)(
    '%s: it stops before its next purchase, and a second start is refused [fault 19a]',
    async (_, change) => {
      const { service, folder, first, second } = await changedRun(change);
      try {
        expect(first.exitCode).toBe(74);
        expect(first.reason).toMatch(/moved, removed, changed or replaced|disk failed/);
        // What the first start was just saving makes the new folder one that holds files.
        if (second?.exitCode === 2) expect(second.reason).toContain('it holds files: ');
        // The first start has ended by then.
        else if (second?.exitCode === 74) expect(second.reason).toContain('moved or removed during the run');
        else expect(second).toMatchObject({ exitCode: 75 });
        expect([...service.executions.keys()]).toEqual(['r0', 'r1', 'r2', 'r3']);
      } finally {
        await service.close();
        folder.remove();
      }
    },
  );

  it('an old name of the folder is no second run: its symlink is refused as well', async () => {
    const service = await startOtherServer();
    const folder = runFolder();
    folder.manifest(rows);
    symlinkSync(folder.out, join(folder.path, 'link'));
    let second: Promise<{ exitCode: number }> | undefined;
    service.behave = () => {
      second ??= folder.run(service, { out: join(folder.path, 'link') });
      return 'complete';
    };
    expect((await folder.run(service, { concurrency: 2 })).exitCode).toBe(0);
    expect((await second)?.exitCode).toBe(75);
    expect([...service.executions.values()].every((count) => count === 1)).toBe(true);
    await service.close();
    folder.remove();
  });

  it('begins no new run under the name of a folder that was moved, until it is put back', async () => {
    const { service, folder } = await changedRun(({ out }) => renameSync(out, `${out}.old`));
    service.behave = () => 'complete';
    for (let start = 1; start <= 2; start++) {
      const refused = await folder.run(service);
      // What the first start was just saving makes the new folder one that holds files.
      const words = refused.exitCode === 2 ? 'it holds files: ' : 'Put the folder back';
      expect([2, 74]).toContain(refused.exitCode);
      expect(refused.reason).toContain(words);
    }
    rmSync(folder.out, { recursive: true });
    renameSync(`${folder.out}.old`, folder.out);
    const end = await folder.run(service, { repair: true });
    expect([0, 6]).toContain(end.exitCode);
    expect([...service.executions.values()].every((count) => count === 1)).toBe(true);
    expect((await folder.run(service)).exitCode).toBe(end.exitCode);
    await service.close();
    folder.remove();
  });

  it('goes on with a journal that was replaced by its copy once it has stopped, and buys nothing twice [fault 19a]', async () => {
    const { service, folder } = await changedRun(({ out }) => replaceByCopy(join(out, 'journal.jsonl')));
    service.behave = () => 'complete';
    const end = await folder.run(service, { repair: true });
    expect([0, 6]).toContain(end.exitCode);
    expect([...service.executions.values()].every((count) => count === 1)).toBe(true);
    expect(end.summary.rows.completed + end.summary.rows.failed).toBe(rows.length);
    await service.close();
    folder.remove();
  });
});
