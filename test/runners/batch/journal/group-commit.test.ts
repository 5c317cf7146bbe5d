import { firstValueFrom, lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { openAppendFile } from '../../../../runners/batch/disk/append-file.js';
import { GroupCommit } from '../../../../runners/batch/journal/group-commit.js';
import { JournalError } from '../../../../runners/batch/journal/journal-error.js';
import type { JournalRecord } from '../../../../runners/batch/journal/record.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import type { DiskFault } from '../../../support/forgetful-disk.js';
import { accepted, intent, journalFile, stop } from '../../../support/sample-records.js';

const path = '/run/journal.jsonl';

async function commitOn(
  faults: readonly DiskFault[] = [],
  { content = '', makeRoom = () => Promise.resolve(false) } = {},
): Promise<{ disk: ForgetfulDisk; commit: GroupCommit }> {
  const disk = new ForgetfulDisk({ faults });
  disk.plant(path, content);
  return { disk, commit: new GroupCommit(await openAppendFile(disk, path), path, 0, makeRoom) };
}

function durable(commit: GroupCommit, record: JournalRecord): Promise<unknown> {
  return lastValueFrom(commit.append(record), { defaultValue: undefined });
}

describe('GroupCommit', () => {
  it('syncs a hundred records that come together once', async () => {
    const { disk, commit } = await commitOn();
    const records = Array.from({ length: 100 }, (_, row) => intent(`row-${row}`));
    await Promise.all(records.map((record) => durable(commit, record)));
    expect([disk.counts.write, disk.counts.sync]).toEqual([1, 1]);
    expect(disk.peek(path)).toEqual(journalFile(records));
  });

  it('takes what comes during a sync along with the next', async () => {
    const { disk, commit } = await commitOn();
    const first = durable(commit, intent('a'));
    while (disk.counts.write === undefined) await Promise.resolve();
    const others = [durable(commit, intent('b')), durable(commit, intent('c'))];
    await Promise.all([first, ...others]);
    expect(disk.counts.sync).toBe(2);
  });

  it.each([accepted('a'), intent('b')])(
    'writes nothing behind what another program has cut off: $k',
    async (record) => {
      const { disk, commit } = await commitOn();
      await durable(commit, intent('a'));
      disk.overwrite(path, '');
      await expect(durable(commit, record)).rejects.toThrow(/no longer the file that this run writes/);
      expect(disk.peek(path)).toHaveLength(0);
      await expect(durable(commit, stop())).rejects.toThrow(/no longer the file/);
    },
  );

  it('tells nobody before the sync', async () => {
    const { disk, commit } = await commitOn();
    let synced: number | undefined;
    commit.append(stop()).subscribe(() => (synced = disk.counts.sync));
    await commit.close();
    expect(synced).toBe(1);
  });

  it('appends a record once, however many subscribe and whenever they leave', async () => {
    const { disk, commit } = await commitOn();
    const record$ = commit.append(stop());
    expect(disk.peek(path)).toHaveLength(0);
    record$.subscribe().unsubscribe();
    await Promise.all([
      firstValueFrom(record$, { defaultValue: 'completed' }),
      lastValueFrom(record$, { defaultValue: 'completed' }),
    ]);
    await lastValueFrom(record$, { defaultValue: 'completed' });
    expect(disk.peek(path)).toEqual(journalFile([stop()]));
  });

  it('keeps the order of subscription', async () => {
    const { disk, commit } = await commitOn();
    const [second, first] = [commit.append(accepted('a')), commit.append(intent('a'))];
    await Promise.all([
      lastValueFrom(first, { defaultValue: 0 }),
      lastValueFrom(second, { defaultValue: 0 }),
    ]);
    expect(disk.peek(path)).toEqual(journalFile([intent('a'), accepted('a')]));
  });

  it('leaves out a record that is no JSON, does not count it, and goes on', async () => {
    const { disk, commit } = await commitOn();
    await expect(durable(commit, intent('a', { columns: { big: 1n } }))).rejects.toMatchObject({
      code: 'unfit-record',
      message: expect.stringContaining(`"intent" of row "a"`) as string,
    });
    expect(await durable(commit, intent('b'))).toBe(1);
    expect(disk.peek(path)).toEqual(journalFile([intent('b')]));
  });
});

describe('GroupCommit on a disk that fails', () => {
  const kept = journalFile([stop()]).toString();
  it.each<[string, DiskFault, string]>([
    ['ENOSPC', { code: 'ENOSPC', call: 'write' }, 'no space is left on the disk'],
    ['EFBIG', { code: 'EFBIG', call: 'write' }, 'largest size'],
    ['EIO', { code: 'EIO', call: 'sync', nth: 1 }, 'the disk reports a fault'],
    ['EROFS', { code: 'EROFS', call: 'write' }, 'read-only'],
    ['EDQUOT', { code: 'EDQUOT', call: 'write' }, 'quota'],
  ])('errors all that wait, and all later ones, on %s', async (errno, fault, words) => {
    const { disk, commit } = await commitOn([fault], { content: kept });
    const appended = [durable(commit, intent('a')), durable(commit, intent('b'))];
    for (const result of [
      ...(await Promise.allSettled(appended)),
      ...(await Promise.allSettled([durable(commit, intent('c'))])),
    ]) {
      const error = (result as PromiseRejectedResult).reason as JournalError;
      expect(error).toBeInstanceOf(JournalError);
      expect(error).toMatchObject({ code: 'journal-io', errno, offset: kept.length });
      expect(error.message).toContain(path);
      expect(error.message).toContain(words);
      expect(error.message).toContain('run the same command again');
    }
    expect(disk.peek(path)?.toString()).toBe(kept);
  });

  it.each([
    [true, 1],
    [false, 0],
  ])(
    'asks for room on a full disk, and writes once more where there is some: %s',
    async (isRoom, written) => {
      let asked = 0;
      const { disk, commit } = await commitOn([{ code: 'ENOSPC', call: 'write', nth: 1 }], {
        makeRoom: () => Promise.resolve(++asked > 0 && isRoom),
      });
      const [appended] = await Promise.allSettled([durable(commit, intent('a'))]);
      expect([appended.status, asked]).toEqual([isRoom ? 'fulfilled' : 'rejected', 1]);
      expect(disk.peek(path)).toEqual(journalFile(written === 1 ? [intent('a')] : []));
    },
  );

  it('errors what comes while it cuts the file back [fault 17]', async () => {
    const { disk, commit } = await commitOn([{ code: 'EIO', call: 'sync', nth: 1 }]);
    const first = durable(commit, intent('a')).catch((error: unknown) => error);
    while (disk.counts.truncate === undefined) await Promise.resolve();
    await expect(durable(commit, intent('b'))).rejects.toBeInstanceOf(JournalError);
    expect(await first).toBeInstanceOf(JournalError);
  });

  it('tells of a fault that has no words of its own by its message', async () => {
    const { commit } = await commitOn([{ code: 'EDQUOT', call: 'write' }]);
    await expect(durable(commit, stop())).rejects.toThrow('EDQUOT');
  });
});

describe('GroupCommit.close', () => {
  it('waits for what is queued, then refuses', async () => {
    const { disk, commit } = await commitOn();
    const queued = durable(commit, intent('a'));
    await commit.close();
    await queued;
    expect(disk.counts.close).toBe(1);
    await expect(durable(commit, intent('b'))).rejects.toThrow('is closed');
  });

  it('writes a record that comes while it closes, or refuses it: however few steps lie between', async () => {
    for (let steps = 0; steps < 30; steps++) {
      const { disk, commit } = await commitOn();
      const first = durable(commit, intent('a'));
      const closing = commit.close();
      await first;
      for (let step = 0; step < steps; step++) await Promise.resolve();
      let end: string | undefined;
      void durable(commit, intent('b')).then(
        () => (end = 'written'),
        () => (end = 'refused'),
      );
      await closing;
      await new Promise((resolve) => setImmediate(resolve));
      const isThere = disk.peek(path)?.includes('"id":"b"') === true;
      expect(end, `${steps} steps`).toBe(isThere ? 'written' : 'refused');
    }
  });
});
