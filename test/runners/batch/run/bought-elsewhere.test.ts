import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { copyFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { concat, defer, EMPTY, from, ignoreElements } from 'rxjs';
import type { Gate } from '../../../../src/policy/gates/gate.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startOtherServer, type OtherServer } from '../../../support/other-server.js';
import { runFolder, type RunFolder } from '../../../support/run-folder.js';
import { until } from '../../../support/until.js';
import { createPictureHost, localPicture } from '../../../../runners/batch/uploads/create-picture-host.js';
import { UploadError } from '../../../../runners/batch/uploads/picture-host.js';
import { UploadNotes } from '../../../../runners/batch/uploads/upload-notes.js';
import { askedHash } from '../../../../runners/batch/manifest/request-hash.js';
import { basedImage } from '../../../../runners/batch/manifest/rows/row-images.js';
import { boughtThere } from '../../../../runners/batch/lock/bought-note.js';
import { holdRun } from '../../../../runners/batch/lock/hold-run.js';
import type { Disk, DiskFile } from '../../../../runners/batch/disk/disk.js';
import { settleRow } from '../../../../runners/batch/settle-row.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import type { RunBatchOptions } from '../../../../runners/batch/run-batch.js';

const edit = (id: string, prompt = id) => ({
  id,
  prompt,
  endpoint: 'image-edit',
  images: ['https://pictures.example.test/a.png'],
});

describe('a manifest that another run has bought from', () => {
  let service: OtherServer;
  let folder: RunFolder;
  beforeEach(async () => {
    service = await startOtherServer();
    folder = runFolder();
    folder.manifest([edit('a'), edit('b'), edit('c')]);
    // Runs of other tests may have been against a service at the same port.
    vi.stubEnv('XDG_STATE_HOME', join(folder.path, 'state'));
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await service.close();
    folder.remove();
  });

  const start = async (name: string, options: Partial<RunBatchOptions> = {}) => {
    const out = join(folder.path, name);
    const end = await folder.run(service, { out, download: false, concurrency: 1, ...options });
    const checked = end.events.find((event) => event.type === 'checked');
    return { ...end, out, bought: checked?.type === 'checked' ? checked.ahead.bought : undefined };
  };

  const noteOf = (out: string) => {
    const name = `${createHash('sha256').update(out).digest('hex').slice(0, 32)}.json`;
    return join(process.env['XDG_STATE_HOME'] ?? '', 'millrace/bought', name);
  };

  /** The file beside it, with what the run has bought. */
  const keysOf = (out: string) => noteOf(out).replace(/json$/, 'bought');

  /** As a start leaves it of which it is not known what it has bought, or one of an older version. */
  const forget = (out: string, isOld = false) => {
    const path = noteOf(out);
    const [line = '', ...additions] = readFileSync(path, 'utf8').split('\n');
    const { bought, ...note } = JSON.parse(line) as { bought?: object };
    expect(bought ?? additions[0]).toBeTruthy();
    truncateSync(keysOf(out));
    writeFileSync(path, isOld ? '' : JSON.stringify(note));
  };

  it('is said of the rows that it would buy again in another folder, and of no other row', async () => {
    const { out, bought } = await start('one', { limit: 2 });
    expect(bought).toBeUndefined();
    const second = await start('two');
    expect(second.bought).toMatchObject({
      rows: 2,
      elsewhere: [out],
      first: [{ id: 'a' }, { id: 'b' }],
    });
    expect(second.exitCode).toBe(0);
    expect((await start('two')).bought).toBeUndefined();
  });

  it('says which of them ask for the same as another, which the manifest says as well', async () => {
    await start('one', { limit: 2 });
    folder.manifest([edit('a'), edit('x', 'a'), edit('c'), edit('y', 'a')]);
    const { bought } = await start('two', { only: ['a', 'x', 'y'] });
    expect(bought).toMatchObject({ rows: 3, twice: { rows: 2, cost: { unpriced: 0 } } });
    expect(bought!.twice!.cost.estimated * 3).toBe(bought!.cost.estimated * 2);
    folder.manifest([edit('v', 'c'), edit('w', 'c')]);
    expect((await start('one', { add: true })).bought).toBeUndefined();
    folder.manifest([edit('p', 'c'), edit('q', 'c')]);
    expect((await start('one', { add: true })).bought).toMatchObject({
      rows: 2,
      twice: { rows: 1 },
    });
  });

  it('says so of rows that were in doubt, were reopened, and were not sent again', async () => {
    folder.manifest([edit('z', 'a'), edit('a'), edit('b')]);
    service.behave = () => 'lose-answer';
    const { out } = await start('one', { only: ['a', 'b'] });
    const capped = { retry: ['unknown'], maxCostUsd: 0.2, only: ['a', 'b'] };
    expect(await start('one', capped)).toMatchObject({ exitCode: 3 });
    const again = await start('one', { only: ['b', 'z'], maxCostUsd: 0.2 });
    expect(again.events.find(({ type }) => type === 'checked')).toMatchObject({
      ahead: { toSend: 2, reopened: 1, retriedUnknown: 0, same: { rows: 1, first: [{ id: 'z' }] } },
    });
    expect((await start('two', { same: 'refuse' })).bought).toMatchObject({ rows: 3, elsewhere: [out] });
    await rename(out, join(folder.path, 'lost'));
    expect((await start('two', { same: 'refuse' })).bought).toMatchObject({ rows: 3, isLost: true });
    expect(service.jobs.size).toBe(2);
  });

  it('says so of what a row has asked for before it was changed, where it is not known whether that was bought', async () => {
    folder.manifest([edit('a')]);
    service.behave = () => 'lose-answer';
    await start('one');
    service.behave = () => 'complete';
    folder.manifest([edit('a', 'other')]);
    expect((await start('one', { retry: ['unknown'] })).exitCode).toBe(0);
    folder.manifest([edit('a', 'other'), edit('s', 'a')]);
    for (const name of ['one', 'two'])
      expect((await start(name, { same: 'refuse', only: ['s'] })).bought).toMatchObject({
        rows: 1,
        first: [{ id: 's', boughtAs: 'a' }],
      });
    expect(service.jobs.size).toBe(2);
  });

  it('counts a row once that this run and another one have bought', async () => {
    const { out } = await start('two', { only: ['a'] });
    await start('one', { only: ['a'] });
    folder.manifest([edit('a'), edit('y', 'a'), edit('z', 'a')]);
    const again = await start('one', { same: 'refuse', only: ['y', 'z'] });
    expect(again.bought).toMatchObject({ rows: 2, elsewhere: [out], twice: { rows: 2 } });
  });

  it('does not say so of a row whose lost request a person has found not to be accepted', async () => {
    folder.manifest([edit('a')]);
    service.behave = () => 'lose-answer';
    const { out } = await start('one');
    await start('one', { retry: ['unknown'], maxCostUsd: 0.1 });
    await settleRow(out, 'a', { notSent: true });
    expect((await start('two', { same: 'refuse' })).bought).toBeUndefined();
  });

  it('compares the second row of --repeat with what was bought twice', async () => {
    folder.manifest([edit('a')]);
    const path = join(folder.path, 'manifest.jsonl');
    const times = (repeat: number) => ({ manifest: { path, repeat }, same: 'refuse' as const });
    await start('two');
    const { out } = await start('one', { ...times(2), same: 'warn' });
    expect((await start('two', times(3))).bought).toMatchObject({
      rows: 1,
      elsewhere: [out],
      first: [{ id: 'a.repeat-2', boughtAs: 'a.repeat-2' }],
    });
    expect((await start('three', times(3))).bought).toMatchObject({ rows: 2 });
  });

  it('names each folder, the one that went on last first', async () => {
    const one = await start('one', { limit: 1 });
    const two = await start('two', { only: ['b'] });
    expect((await start('three')).bought).toMatchObject({ rows: 2, elsewhere: [two.out, one.out] });
  });

  it('is said also where many other runs have gone on since', async () => {
    const { out } = await start('first', { only: ['a'] });
    for (let day = 1; day <= 10; day++) await start(`day-${day}`, { only: ['b'] });
    expect((await start('again', { only: ['a'] })).bought).toMatchObject({ rows: 1, elsewhere: [out] });
  });

  it('is said also of earlier runs that would take too long to read, by what is noted of them; of others the start says that it does not know', async () => {
    const first = await start('first', { only: ['a'] });
    const second = await start('second', { only: ['c'] });
    forget(second.out);
    for (let day = 1; day <= 10; day++) await start(`day-${day}`, { only: ['b'] });
    for (const { out } of [first, second]) truncateSync(join(out, 'journal.jsonl'), 33 << 20);
    const again = await start('again', { only: ['a', 'c'], same: 'refuse' });
    expect(again.bought).toMatchObject({ rows: 1, elsewhere: [first.out], first: [{ id: 'a' }] });
    expect(again.bought).not.toHaveProperty('isLost');
    expect(again.exitCode).toBe(2);
    const ahead = again.events.flatMap((event) => (event.type === 'checked' ? [event.ahead.unread] : []));
    expect(ahead).toEqual([[second.out]]);
  });

  it('is said of all rows, also where this run has bought some of them under other ids', async () => {
    const { out } = await start('one', { limit: 2 });
    await start('two', { only: ['c'] });
    folder.manifest([edit('a'), edit('b'), edit('d', 'c')]);
    expect((await start('two')).bought).toMatchObject({
      rows: 1,
      first: [{ id: 'd', boughtAs: 'c' }],
      others: { rows: 2, elsewhere: [out], first: [{ id: 'a' }, { id: 'b' }] },
    });
  });

  it.each([
    ['is damaged', (text: string) => text.replaceAll('"k":"intent"', '"k":"intent')],
    ['has lost its end', (text: string) => text.slice(0, text.indexOf('"k":"reply"'))],
  ])(
    'is said where the journal of that run %s: of all rows, if nothing else says what it bought',
    async (_, damage) => {
      const { out } = await start('one', { limit: 2 });
      const path = join(out, 'journal.jsonl');
      writeFileSync(path, damage(readFileSync(path, 'utf8')));
      const damaged = { elsewhere: [out], isLost: true, isDamaged: true };
      const refused = await start('two', { same: 'refuse' });
      expect(refused).toMatchObject({ exitCode: 2, bought: { ...damaged, rows: 2 } });
      forget(out);
      expect((await start('two')).bought).toMatchObject({ ...damaged, rows: 3 });
      folder.manifest([edit('x'), edit('y')]);
      expect((await start('three')).bought).toBeUndefined();
    },
  );

  it('says nothing where the rows ask for something else', async () => {
    await start('monday');
    folder.manifest([edit('a', 'tuesday'), edit('b', 'tuesday too')]);
    expect((await start('tuesday')).bought).toBeUndefined();
  });

  it('says nothing of rows that were refused, and of what another service has bought', async () => {
    service.behave = () => 'reject';
    await start('refused');
    service.behave = () => 'complete';
    expect((await start('again')).bought).toBeUndefined();
    await using other = Object.assign(await startOtherServer(), {
      async [Symbol.asyncDispose]() {
        await other.close();
      },
    });
    const { baseUrl, lbBaseUrl, key: apiKey } = other;
    expect((await start('elsewhere', { baseUrl, lbBaseUrl, apiKey })).bought).toBeUndefined();
  });

  it('is known under another name, as an export of the next day has', async () => {
    const { out } = await start('monday');
    const path = join(folder.path, 'tuesday.jsonl');
    await copyFile(folder.manifest([edit('a'), edit('b'), edit('c')]), path);
    const { bought } = await start('tuesday', { manifest: { path } });
    expect(bought).toMatchObject({ rows: 3, elsewhere: [out] });
  });

  describe('and that lies in a folder of its own', () => {
    let other: RunFolder;
    beforeEach(() => void (other = runFolder()));
    afterEach(() => other.remove());

    const startThere = async (options: Partial<RunBatchOptions> = {}) => {
      const end = await other.run(service, { download: false, ...options });
      const checked = end.events.find((event) => event.type === 'checked');
      return checked?.type === 'checked' ? checked.ahead.bought : undefined;
    };

    it('is known by its rows: a copy', async () => {
      const { out } = await start('one', { limit: 2 });
      other.manifest([edit('a'), edit('b'), edit('c')]);
      expect(await startThere()).toMatchObject({
        rows: 2,
        elsewhere: [out],
        first: [{ id: 'a' }, { id: 'b' }],
      });
    });

    it('is known by its rows: an export of the next day, with other ids, in another order', async () => {
      const rows = (from: number, to: number, day: string) =>
        Array.from({ length: to - from }, (_, at) => edit(`${day}-${at}`, `number ${from + at}`));
      folder.manifest(rows(0, 40, 'monday'));
      const { out } = await start('one', { concurrency: 8 });
      other.manifest(rows(10, 60, 'tuesday').reverse());
      expect(await startThere({ concurrency: 8 })).toMatchObject({ rows: 30, elsewhere: [out] });
      other.manifest(rows(100, 120, 'wednesday'));
      expect(await startThere({ out: join(other.path, 'wednesday') })).toBeUndefined();
    });

    it('is said of a run that has begun, too, also where what it holds is kept', async () => {
      const { out } = await start('one', { limit: 1 });
      other.manifest([edit('a'), edit('b'), edit('c')]);
      await startThere();
      expect((await start('one', { limit: 1 })).bought).toMatchObject({ rows: 1, elsewhere: [other.out] });
      expect((await start('one')).bought).toMatchObject({ rows: 1, elsewhere: [other.out] });
      expect((await start('one')).bought).toBeUndefined();
      expect(out).not.toBe(other.out);
    });

    /** A text that makes its row one of the few that are noted wherever they stand. */
    const sparse = () => {
      const isSparse = (prompt: string) => {
        const { endpoint, images } = edit('');
        const request = { kind: 'edit', input: { images, prompt } };
        return askedHash({ kind: 'edit', endpoint, columns: {}, hash: '', request }).startsWith('00');
      };
      return Array.from({ length: 10_000 }, (_, at) => `sparse ${at}`).find(isSparse) ?? '';
    };

    it('is known by rows behind the first thousands', async () => {
      const rows = Array.from({ length: 4_200 }, (_, at) => edit(`r${at}`));
      folder.manifest([...rows, edit('last', sparse())]);
      const { out } = await start('one', { only: ['last'] });
      other.manifest([edit('new', sparse())]);
      expect(await startThere()).toMatchObject({ rows: 1, elsewhere: [out], first: [{ boughtAs: 'last' }] });
    });

    it('is known by rows behind the first thousands that arrived', async () => {
      const rows = [edit('a'), edit('b'), edit('last', sparse())];
      const { out } = await start('live', { manifest: { rows } });
      other.manifest([edit('new', sparse())]);
      expect(await startThere()).toMatchObject({ rows: 1, elsewhere: [out], first: [{ boughtAs: 'last' }] });
    });

    it('holds pictures that are named by paths for the same only where their addresses are', async () => {
      const withPath = [{ ...edit('a'), images: ['a.png'] }];
      const based = (host: string, path: string) => ({
        manifest: { path, resolveImage: (picture: string) => `https://${host}/${picture}` },
      });
      const { out } = await start('one', based('monday.example', folder.manifest(withPath)));
      const path = other.manifest(withPath);
      expect(await startThere({ ...based('tuesday.example', path), limit: 0 })).toBeUndefined();
      expect(await startThere(based('monday.example', path))).toMatchObject({ rows: 1, elsewhere: [out] });
    });
  });

  it('is known by rows that arrived in a run which goes on, or has ended', async () => {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const arriving = async function* () {
      for (const id of ['a', 'x', 'b']) yield edit(id);
      await ended;
    };
    const live = start('live', { manifest: { rows: arriving() } });
    await until(() => service.jobs.size === 3);
    const found = { rows: 2, elsewhere: [join(folder.path, 'live')], first: [{ id: 'a' }, { id: 'b' }] };
    const refused = { exitCode: 2, bought: found };
    expect(await start('two', { same: 'refuse' })).toMatchObject(refused);
    end();
    await live;
    expect(await start('two', { same: 'refuse' })).toMatchObject(refused);
    expect(service.jobs.size).toBe(3);
  });

  describe('and that uploads its pictures', () => {
    let other: RunFolder;
    const read: string[] = [];
    const unreadable = new Set<string>();
    beforeEach(() => {
      other = runFolder();
      read.length = 0;
      unreadable.clear();
      for (const { path } of [folder, other])
        for (const name of ['a', 'b', 'c']) draw(path, `${name}.png`, name);
      for (const { manifest } of [folder, other]) manifest(['a', 'b', 'c'].map((id) => picture(id)));
    });
    afterEach(() => other.remove());

    const draw = (path: string, name: string, bytes: string) =>
      writeFileSync(join(path, name), Buffer.from(`\x89PNG\r\n\x1a\n${bytes}`, 'latin1'));
    const picture = (id: string, name = `${id}.png`) => ({ ...edit(id, 'same'), images: [name] });
    const uploading = ({ path }: RunFolder): Partial<RunBatchOptions> => ({
      manifest: { path: join(path, 'manifest.jsonl'), resolveImage: localPicture },
      pictureHost: async (out) => {
        const host = createPictureHost({
          bucket: 'b',
          prefix: '',
          folder: path,
          notes: await UploadNotes.open(nodeDisk, join(out, 'uploads.jsonl')),
          store: {
            has: async () => true,
            add: async () => undefined,
            addressOf: async (key) => `https://store.test/${key}`,
          },
        });
        return {
          ...host,
          sha256Of: async (name, sizes) => {
            if (unreadable.has(name)) throw new UploadError('picture', `${name} cannot be read (EIO)`);
            const sha256 = await host.sha256Of?.(name, sizes);
            if (sha256 !== undefined) read.push(name);
            return sha256;
          },
        };
      },
    });
    const startThere = (name = 'there') =>
      start(name, { ...uploading(other), out: join(other.path, name), same: 'refuse' });

    it('is known in a copy of its folder by the bytes of the pictures, also without its journal', async () => {
      const { out } = await start('one', { ...uploading(folder), limit: 2 });
      const found = { rows: 2, elsewhere: [out], first: [{ id: 'a' }, { id: 'b' }] };
      expect(await startThere()).toMatchObject({ exitCode: 2, bought: found });
      await rename(out, join(folder.path, 'lost'));
      expect(await startThere()).toMatchObject({ exitCode: 2, bought: { ...found, isLost: true } });
      expect(service.jobs.size).toBe(2);
    });

    it('is known by pictures under other names, and not by other pictures under the same name', async () => {
      const { out } = await start('one', uploading(folder));
      draw(folder.path, 'renamed.png', 'b');
      draw(folder.path, 'a.png', 'x');
      draw(folder.path, 'c.png', 'longer');
      folder.manifest([picture('a'), picture('b2', 'renamed.png'), picture('c')]);
      expect(await start('two', { ...uploading(folder), same: 'refuse' })).toMatchObject({
        exitCode: 2,
        bought: { rows: 1, elsewhere: [out], first: [{ id: 'b2', boughtAs: 'b' }] },
      });
      // Each start reads pictures of some rows that it sends, to be found by others.
      expect(read.sort()).toEqual(['a.png', 'a.png', 'b.png', 'c.png', 'c.png', 'renamed.png']);
    });

    it('is said of rows whose pictures cannot be read while it is checked: their disk may be there again later', async () => {
      const { out } = await start('one', { ...uploading(folder), limit: 2 });
      folder.manifest([picture('x', 'a.png'), picture('y', 'c.png'), { ...picture('z'), prompt: 'other' }]);
      draw(folder.path, 'z.png', 'z');
      for (const name of ['a.png', 'c.png', 'z.png']) unreadable.add(name);
      const found = { rows: 2, elsewhere: [out], first: [{ id: 'x' }, { id: 'y' }] };
      const two = () => start('two', { ...uploading(folder), same: 'refuse' });
      expect(await two()).toMatchObject({ exitCode: 2, bought: found });
      const again = { ...uploading(folder), same: 'refuse' as const, add: true };
      expect(await start('one', again)).toMatchObject({ exitCode: 2, bought: { rows: 2 } });
      await rename(out, join(folder.path, 'lost'));
      expect(await two()).toMatchObject({ exitCode: 2, bought: { ...found, isLost: true } });
      expect(service.jobs.size).toBe(2);
    });

    it('is known by renamed pictures under other ids also in its own folder, and where its journal is gone', async () => {
      const { out } = await start('one', uploading(folder));
      draw(folder.path, 'renamed.png', 'b');
      draw(folder.path, 'a.png', 'x');
      folder.manifest([picture('new', 'a.png'), picture('b2', 'renamed.png'), picture('c')]);
      const again = { ...uploading(folder), same: 'refuse' as const };
      expect(await start('one', again)).toMatchObject({
        exitCode: 2,
        bought: { rows: 1, first: [{ id: 'b2', boughtAs: 'b' }] },
      });
      await rename(out, join(folder.path, 'lost'));
      const lost = await start('two', { ...again, only: ['b2'] });
      expect(lost).toMatchObject({ exitCode: 2, bought: { rows: 1, elsewhere: [out], isLost: true } });
      expect(service.jobs.size).toBe(3);
    });

    it('is known in another folder by pictures that were moved and renamed', async () => {
      const { out } = await start('one', uploading(folder));
      draw(other.path, 'moved.png', 'b');
      draw(other.path, 'new.png', 'x');
      other.manifest([picture('m', 'moved.png'), picture('n', 'new.png')]);
      expect(await startThere()).toMatchObject({
        exitCode: 2,
        bought: { rows: 1, elsewhere: [out], first: [{ id: 'm', boughtAs: 'b' }] },
      });
      forget(out);
      await rename(out, join(folder.path, 'lost'));
      // What was bought for the same texts need not be for these pictures.
      expect(await startThere()).toMatchObject({ exitCode: 0, bought: undefined });
    });

    it('is known in another folder by pictures that arrived in a run which goes on', async () => {
      const rows = ['a', 'b'].map((id) => picture(id));
      const { manifest, ...hosted } = uploading(folder);
      const resolveImage = localPicture;
      const { out } = await start('live', { ...hosted, manifest: { rows, resolveImage } });
      expect(manifest).toBeDefined();
      draw(other.path, 'moved.png', 'b');
      other.manifest([picture('m', 'moved.png')]);
      expect(await startThere()).toMatchObject({ exitCode: 2, bought: { rows: 1, elsewhere: [out] } });
    });

    it('goes on while rows of other pictures under the same names arrive in another folder', async () => {
      for (const name of ['a', 'b']) draw(other.path, `${name}.png`, `other ${name}`);
      let release = (): void => undefined;
      const hold = new Promise<void>((resolve) => (release = resolve));
      service.behave = () => ({ hold });
      const live = (at: RunFolder, name: string) => {
        const { pictureHost } = uploading(at);
        const rows = ['a', 'b'].map((id) => picture(id));
        return start(name, { pictureHost, manifest: { rows, resolveImage: localPicture } });
      };
      const ends = [live(folder, 'one'), live(other, 'two')];
      await Promise.race([until(() => service.requests.length === 2), ...ends]);
      release();
      expect((await Promise.all(ends)).map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    });

    describe('and that goes on', () => {
      /** A run that has asked for its first rows, and waits for the answers. */
      const startSlowly = async (name: string, options: Partial<RunBatchOptions>, count = 1) => {
        let release = (): void => undefined;
        const hold = new Promise<void>((resolve) => (release = resolve));
        const known = service.requests.length;
        service.behave = () => ({ hold });
        const run = start(name, { ...options, concurrency: count });
        await Promise.race([until(() => service.requests.length === known + count), run]);
        return { run, release };
      };

      it('goes beside a start of other pictures under the same names, and not of these under others [fault 19]', async () => {
        for (const name of ['a', 'b', 'c']) draw(other.path, `${name}.png`, name.toUpperCase());
        const one = await startSlowly('one', uploading(folder));
        const two = await startSlowly('two', uploading(other));
        const third = runFolder();
        const names = Array.from({ length: 60 }, (_, at) => `moved ${at}`);
        for (const name of names) draw(third.path, `${name}.png`, `new ${name}`);
        draw(third.path, 'moved 40.png', 'b');
        third.manifest(names.map((name) => picture(name)));
        service.behave = () => 'complete';
        const moved = await start('three', { ...uploading(third), out: join(third.path, 'three') });
        expect(moved).toMatchObject({ exitCode: 75, reason: expect.stringContaining('one is running') });
        one.release();
        two.release();
        expect((await Promise.all([one.run, two.run])).map(({ exitCode }) => exitCode)).toEqual([0, 0]);
        expect([...service.executions.values()]).toEqual([6]);
        third.remove();
      });

      it('is found by any one of many pictures of one size [fault 19]', async () => {
        const names = Array.from({ length: 60 }, (_, at) => `scan ${at + 10}`);
        for (const name of names) draw(folder.path, `${name}.png`, name);
        folder.manifest(names.map((name) => picture(name)));
        const one = await startSlowly('one', { ...uploading(folder), maxCostUsd: 0.1 });
        for (const at of [0, 3, 4, 30, 59]) {
          const name = names[at]!;
          draw(other.path, 'moved.png', name);
          other.manifest([picture('m', 'moved.png')]);
          const moved = await start(`moved ${at}`, { ...uploading(other), out: join(other.path, `${at}`) });
          expect(moved.exitCode).toBe(75);
        }
        one.release();
        await one.run;
      });

      it('is found by a run that joins the feed [fault 19]', async () => {
        const live = (...ids: readonly string[]): Partial<RunBatchOptions> => ({
          ...uploading(folder),
          manifest: { rows: ids.map((id) => picture(id)), resolveImage: localPicture },
        });
        const one = await startSlowly('one', live('a', 'b', 'c'), 3);
        expect(await start('two', live('c'))).toMatchObject({
          exitCode: 75,
          reason: expect.stringContaining('one is running'),
        });
        one.release();
        expect((await one.run).exitCode).toBe(0);
        expect([...service.executions.values()]).toEqual([3]);
      });
    });

    it('says nothing of other pictures under the same names in another folder', async () => {
      await start('one', uploading(folder));
      for (const name of ['a', 'b', 'c']) draw(other.path, `${name}.png`, `other ${name}`);
      expect(await startThere()).toMatchObject({ exitCode: 0, bought: undefined });
      expect(read).toHaveLength(6);
    });
  });

  describe('and that writes its requests in another way', () => {
    const based = (path: string) => ({
      manifest: { path, resolveImage: basedImage('https://pictures.example.test') },
    });
    const asPath = (id: string) => ({ ...edit(id, `draw ${id}`), images: ['a.png'] });
    const asUrl = (id: string, prompt = `draw ${id}`) => edit(id, prompt);
    const lines = (id: string, breaks: string) => edit(id, `first${breaks}second`);
    const composed = (id: string, form: 'NFC' | 'NFD') => edit(id, 'Grüße'.normalize(form));
    const job = (id: string, breaks: string) => ({
      id,
      kind: 'job',
      endpoint: 'echo',
      input: { text: `1${breaks}2` },
    });

    it.each<[string, (id: string) => object, (id: string) => object]>([
      ['its pictures as URLs instead of paths', asPath, asUrl],
      ['its pictures as paths instead of URLs', asUrl, asPath],
      ['its pictures as other paths', asPath, (id) => ({ ...asPath(id), images: ['./a.png'] })],
      ['its line breaks as another editor does', (id) => lines(id, '\n'), (id) => lines(id, '\r\n')],
      ['its line breaks as an old editor does', (id) => lines(id, '\r\n'), (id) => lines(id, '\r')],
      ['letters decomposed', (id) => composed(id, 'NFC'), (id) => composed(id, 'NFD')],
      ['letters composed', (id) => composed(id, 'NFD'), (id) => composed(id, 'NFC')],
      ['the line breaks of a job in another way', (id) => job(id, '\r\n'), (id) => job(id, '\n')],
      [
        'default values out',
        (id) => asPath(id),
        (id) => ({ ...asUrl(id), resolution: '1k', output_format: 'png' }),
      ],
    ])('is known by what it asks for: %s', async (_, first, second) => {
      const { out } = await start('one', based(folder.manifest([first('a')])));
      const renamed = [{ ...second('a'), id: 'new' }];
      // In the same folder under another id, in another folder of this manifest, and in a folder of its own.
      const path = folder.manifest(renamed);
      expect((await start('one', { ...based(path), same: 'refuse' })).reason).toContain('has bought already');
      const beside = await start('two', { ...based(path), same: 'refuse' });
      expect(beside.reason).toContain(`was bought already, in ${out}`);
      const other = runFolder();
      const there = { ...based(other.manifest(renamed)), same: 'refuse' as const };
      expect((await other.run(service, there)).reason).toContain(`was bought already, in ${out}`);
      other.remove();
      // Under its own id it has not changed.
      const again = await start('one', { ...based(folder.manifest([second('a')])), changed: 'redo' });
      expect(again.events.filter(({ type }) => type === 'warning')).toEqual([]);
      expect([...service.executions.values()]).toEqual([1]);
    });

    it('says nothing where only the pictures or the texts differ', async () => {
      await start('one', based(folder.manifest([asPath('a'), job('b', '\n')])));
      const others = [{ ...asPath('new'), images: ['b.png'] }, asUrl('newer', 'draw b'), job('more', '\n\n')];
      expect((await start('one', based(folder.manifest(others)))).bought).toBeUndefined();
    });

    it('counts each row that asks for it, however it is written', async () => {
      await start('one', based(folder.manifest([asPath('a')])));
      const rows = [asPath('x'), { ...asUrl('a'), id: 'y' }, { ...asUrl('a'), id: 'z', resolution: '1k' }];
      folder.manifest(rows.map((row) => ({ ...row, prompt: 'draw a' })));
      const { bought } = await start('one', based(join(folder.path, 'manifest.jsonl')));
      expect(bought).toMatchObject({ rows: 3, first: [{ id: 'x' }, { id: 'y' }, { id: 'z' }] });
    });
  });

  it('is said of a run that has begun, too, where another one has bought its rows since', async () => {
    const one = await start('one', { limit: 1 });
    const two = await start('two');
    expect(two.bought).toMatchObject({ rows: 1, elsewhere: [one.out] });
    const sent = service.executions.size;
    const again = await start('one', { same: 'refuse' });
    expect(again.exitCode).toBe(2);
    expect(again.reason).toContain(`asks for what was bought already, in ${two.out}`);
    expect(service.executions.size).toBe(sent);
    expect((await start('one')).bought).toMatchObject({ rows: 2, elsewhere: [two.out] });
  });

  it('is said of failures that a run of their own has bought since', async () => {
    service.behave = () => 'reject';
    const first = await start('one');
    service.behave = () => 'complete';
    const path = join(first.out, 'failures.jsonl');
    const retried = await start('two', { manifest: { path } });
    expect(retried).toMatchObject({ exitCode: 0, bought: undefined });
    expect((await start('one', { retry: ['failed'] })).bought).toMatchObject({
      rows: 3,
      elsewhere: [retried.out],
    });
  });

  it('is refused where rows that ask for the same are', async () => {
    const { out } = await start('one');
    const sent = service.executions.size;
    const { exitCode, reason } = await start('two', { same: 'refuse' });
    expect([exitCode, reason]).toEqual([
      2,
      expect.stringContaining(`line 1 (id "a") asks for what was bought already, in ${out}`),
    ]);
    expect(service.executions.size).toBe(sent);
  });

  describe('and that goes on', () => {
    /** A run that has asked for its first row, and waits for the answer. */
    const startSlowly = async (name: string, options: Partial<RunBatchOptions> = {}) => {
      let release = (): void => undefined;
      const hold = new Promise<void>((resolve) => (release = resolve));
      const known = service.requests.length;
      service.behave = () => ({ hold });
      const run = start(name, options);
      await until(() => service.requests.length > known);
      return { run, release };
    };

    it('is refused while rows are to be sent that it sends, and sends none [fault 19]', async () => {
      const { run, release } = await startSlowly('one');
      const { exitCode, reason } = await start('two');
      expect([exitCode, reason]).toEqual([
        75,
        expect.stringContaining(`The run in ${folder.path}/one is running`),
      ]);
      release();
      expect((await run).exitCode).toBe(0);
      expect([...service.executions.values()]).toEqual([1, 1, 1]);
      // What has been bought is a question by then.
      expect((await start('two', { same: 'refuse' })).exitCode).toBe(2);
    });

    it('is refused where few of its many rows are sent by that run [fault 19]', async () => {
      const rows = (from: number) => Array.from({ length: 5_000 }, (_, at) => edit(`row ${from + at}`));
      folder.manifest(rows(0));
      const { run, release } = await startSlowly('one', { concurrency: 1, maxCostUsd: 0.1 });
      const other = runFolder();
      other.manifest(rows(4_997));
      const there = await other.run(service, { download: false, maxCostUsd: 0.1 });
      expect(there).toMatchObject({ exitCode: 75, reason: expect.stringContaining('one is running') });
      expect(service.requests).toHaveLength(1);
      release();
      expect((await run).exitCode).toBe(3);
      other.remove();
    });

    it('is not in the way once it was killed, also while a person settles it', async () => {
      const sending = join(process.env['XDG_STATE_HOME'] ?? '', 'millrace/sending');
      const filesThere = () => readdirSync(sending).filter((name) => /^[0-9a-f]{32}$/.test(name));
      const left = new Map<string, Buffer>();
      service.behave = () => {
        for (const name of filesThere()) left.set(name, readFileSync(join(sending, name)));
        return 'complete';
      };
      const { out } = await start('one', { only: ['a'] });
      for (const [name, bytes] of left) writeFileSync(join(sending, name), bytes);
      expect(filesThere()).toHaveLength(1);
      const hold = await holdRun(out);
      expect(await start('two')).toMatchObject({ exitCode: 0, bought: { rows: 1, first: [{ id: 'a' }] } });
      await hold.release();
      expect(filesThere()).toEqual([]);
    });

    it('is refused while workers may have rows that it sends, though its process is dead [fault 19]', async () => {
      const out = join(folder.path, 'one');
      const note = { key: 'a-run', database: 'postgres://db.example/millrace' };
      const keepNote = (isOpen: boolean) =>
        writeFileSync(join(out, 'distributed.json'), JSON.stringify({ ...note, isOpen }));
      service.behave = () => (keepNote(true), 'complete');
      await start('one', { limit: 1 });
      service.behave = () => 'complete';
      const refused = await start('two', { only: ['a'] });
      expect([refused.exitCode, refused.reason]).toEqual([
        75,
        expect.stringContaining(`${out} has not ended: its workers (${note.database}) may send rows`),
      ]);
      expect((await start('two', { only: ['b'] })).exitCode).toBe(0);
      keepNote(false);
      expect((await start('two', { only: ['c'] })).exitCode).toBe(0);
      expect([...service.executions.values()]).toEqual([1, 1, 1]);
      // Without workers, what it has bought is a question.
      expect(await start('two', { only: ['a'] })).toMatchObject({ exitCode: 0, bought: { rows: 1 } });
    });

    it('is refused also where many other runs have sent that row before [fault 19]', async () => {
      for (let day = 1; day <= 10; day++) await start(`day-${day}`, { only: ['a'] });
      const path = join(folder.path, 'copy.jsonl');
      await copyFile(folder.manifest([edit('a'), edit('b'), edit('c')]), path);
      const { run, release } = await startSlowly('copy', { manifest: { path }, only: ['a'] });
      expect((await start('day-11', { only: ['a'] })).exitCode).toBe(75);
      release();
      await run;
      expect(service.executions.get('a')).toBe(11);
    });

    it('goes with starts of its other rows, and with rows of other pictures under the same names', async () => {
      const first = await startSlowly('one', { only: ['a'] });
      const rest = await startSlowly('two', { only: ['b', 'c'] });
      const path = folder.manifest([{ ...edit('a'), images: ['a.png'] }]);
      const there = start('three', { manifest: { path, resolveImage: () => 'https://other.test/a.png' } });
      for (const { release } of [first, rest]) release();
      const ends = await Promise.all([first.run, rest.run, there]);
      expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    });

    it('is found by another run of the same feed, which stops before that row [fault 19]', async () => {
      const feed = (...ids: readonly string[]) => ({ manifest: { rows: ids.map((id) => edit(id)) } });
      const first = await startSlowly('one', feed('a', 'b', 'c'));
      let release = (): void => undefined;
      const hold = new Promise<void>((resolve) => (release = resolve));
      service.behave = (id) => (id === 'b' ? { hold } : 'complete');
      first.release();
      await until(() => service.requests.length === 2);
      const { exitCode, reason } = await start('two', feed('x', 'b', 'y'));
      release();
      expect([exitCode, reason]).toEqual([
        75,
        expect.stringMatching(/one is running .* the row "b", .* nor were the rows after it/),
      ]);
      expect((await first.run).exitCode).toBe(0);
      expect([...service.executions.keys()].sort()).toEqual(['a', 'b', 'c', 'x']);
      expect([...service.executions.values()]).toEqual([1, 1, 1, 1]);
    });

    describe('with rows that arrive', () => {
      const ids = (from: number, to: number) =>
        Array.from({ length: to - from }, (_, at) => `row ${from + at}`);
      /** A feed of which the next rows arrive when `give` is called, and that ends after them. */
      const feed = (...first: readonly string[]) => {
        let give: (rest: readonly string[]) => void = () => undefined;
        const later = new Promise<readonly string[]>((resolve) => (give = resolve));
        const rows = async function* () {
          for (const id of first) yield edit(id);
          for (const id of await later) yield edit(id);
        };
        return { give: (...rest: readonly string[]) => give(rest), manifest: { rows: rows() } };
      };
      const ends = () => [...service.executions.values()].filter((count) => count > 1);
      it('is found by a run that joins the feed in the middle, before its first row [fault 19]', async () => {
        const { give, manifest } = feed(...ids(0, 60));
        const one = start('one', { manifest });
        await until(() => service.jobs.size === 60);
        const { exitCode, reason } = await start('two', { manifest: feed(...ids(45, 90)).manifest });
        expect([exitCode, reason]).toEqual([
          75,
          expect.stringMatching(/one is running .* has sent the row "row 45", .* It was not sent/),
        ]);
        give('last');
        expect((await one).exitCode).toBe(0);
        expect([service.jobs.size, ends()]).toEqual([61, []]);
      });

      it('stops before a row that a later run was faster to send [fault 19]', async () => {
        const [slow, fast] = [feed(...ids(0, 50)), feed(...ids(50, 55))];
        const one = start('one', { manifest: slow.manifest });
        await until(() => service.jobs.size === 50);
        const two = start('two', { manifest: fast.manifest });
        await until(() => service.jobs.size === 55);
        slow.give('x', 'row 53', 'y');
        expect(await one).toMatchObject({ exitCode: 75, reason: expect.stringContaining('two is running') });
        fast.give('z');
        expect((await two).exitCode).toBe(0);
        expect([service.executions.has('y'), service.jobs.size, ends()]).toEqual([false, 57, []]);
      });

      it('sends rows once that arrive in two runs at the same moment, and one of them stops [fault 19]', async () => {
        const [first, second] = [feed(...ids(0, 4)), feed(...ids(10, 14))];
        const runs = [first, second].map(({ manifest }, at) => start(`run ${at}`, { manifest }));
        await until(() => service.jobs.size === 8);
        for (const { give } of [first, second]) give(...ids(20, 60));
        const codes = (await Promise.all(runs)).map(({ exitCode }) => exitCode);
        expect(codes.sort((one, other) => one - other)).toEqual([0, 75]);
        expect([service.jobs.size, ends()]).toEqual([48, []]);
      });

      it('has its rows to itself while they wait for their turn [fault 19]', async () => {
        const [first, second] = [feed(...ids(0, 40)), feed(...ids(50, 90))];
        const one = start('one', { manifest: first.manifest });
        await until(() => service.jobs.size === 40);
        const waiting: string[] = [];
        let release = (): void => undefined;
        const hold = new Promise<void>((resolve) => (release = resolve));
        const held = from(hold).pipe(ignoreElements());
        const admit: Gate['admit'] = ({ key }) =>
          key === 'x' || key === 'y'
            ? concat(
                defer(() => (waiting.push(key), EMPTY)),
                held,
              )
            : EMPTY;
        const gate: Gate = { admit, observe: () => undefined };
        const two = start('two', { manifest: second.manifest, gate, concurrency: 2 });
        await until(() => service.jobs.size === 80);
        second.give('x', 'y');
        await until(() => waiting.length === 2);
        first.give('v', 'x', 'z');
        expect(await one).toMatchObject({
          exitCode: 75,
          reason: expect.stringMatching(/two is running .* the row "x", or is about to/),
        });
        release();
        expect((await two).exitCode).toBe(0);
        expect([service.jobs.size, ends()]).toEqual([83, []]);
      });

      it('goes on beside a run that has sent something else under the same ids [fault 19]', async () => {
        const one = feed(...ids(0, 40));
        const run = start('one', { manifest: one.manifest });
        await until(() => service.jobs.size === 40);
        const rows = ids(0, 40).map((id) => edit(id, `other ${id}`));
        expect(await start('two', { manifest: { rows } })).toMatchObject({ exitCode: 0 });
        one.give();
        expect((await run).exitCode).toBe(0);
      });

      it('goes on while a run is settled that has ended and has sent its rows', async () => {
        const { out } = await start('one', { manifest: { rows: ids(0, 40).map((id) => edit(id)) } });
        const hold = await holdRun(out);
        const own = { rows: ids(33, 40).map((id) => edit(id)) };
        expect(await start('two', { manifest: own })).toMatchObject({ exitCode: 0 });
        await hold.release();
      });

      it('goes on beside a run in which its rows have failed, and cost nothing', async () => {
        const one = feed(...ids(0, 40));
        service.behave = () => 'reject';
        const run = start('one', { manifest: one.manifest });
        const failures = join(folder.path, 'one/failures.jsonl');
        await until(() => existsSync(failures) && readFileSync(failures, 'utf8').split('\n').length === 41);
        service.behave = () => 'complete';
        const rows = ids(0, 40).map((id) => edit(id));
        expect(await start('two', { manifest: { rows } })).toMatchObject({ exitCode: 0 });
        one.give();
        expect((await run).exitCode).toBe(1);
      });

      it('goes on where its row has failed, cost nothing, and was given to the run that began before', async () => {
        const [first, second] = [feed(...ids(0, 40)), feed(...ids(50, 90), 'x')];
        service.behave = (id) => (id === 'x' ? 'reject' : 'complete');
        const one = start('one', { manifest: first.manifest });
        await until(() => service.jobs.size === 40);
        const two = start('two', { manifest: second.manifest });
        const failures = join(folder.path, 'two/failures.jsonl');
        await until(() => existsSync(failures) && readFileSync(failures, 'utf8').includes('"x"'));
        let release = (): void => undefined;
        const hold = new Promise<void>((resolve) => (release = resolve));
        service.behave = (id) => (id === 'w' ? { hold } : 'complete');
        first.give('x', 'w');
        await until(() => service.requests.some(({ body }) => body.includes('"w"')));
        second.give('y', 'z');
        expect(await two).toMatchObject({ exitCode: 1 });
        release();
        expect((await one).exitCode).toBe(0);
        expect([service.executions.has('z'), ends()]).toEqual([true, []]);
      });

      it('goes on beside a run that has read the same, which costs nothing', async () => {
        const read = (id: string) => ({ id, route: `/info?${id.slice(4)}`, method: 'GET', endpoint: 'info' });
        let release = (): void => undefined;
        const hold = new Promise<void>((resolve) => (release = resolve));
        const slow = async function* () {
          yield* ids(0, 3).map(read);
          await hold;
        };
        const one = start('one', { manifest: { rows: slow() } });
        await until(() => service.requests.length === 3);
        expect(await start('two', { manifest: { rows: ids(0, 4).map(read) } })).toMatchObject({
          exitCode: 0,
        });
        release();
        expect((await one).exitCode).toBe(0);
      });
    });

    it('is found by a start at the same moment, and by one that was asked for longer [fault 19]', async () => {
      let release = (): void => undefined;
      const hold = new Promise<void>((resolve) => (release = resolve));
      service.behave = () => ({ hold });
      let ended = 0;
      const starts = ['two', 'three', 'four'].map((name) => start(name).finally(() => (ended += 1)));
      await until(() => ended === 2);
      release();
      const ends = await Promise.all(starts);
      expect(ends.map(({ exitCode }) => exitCode).sort((one, other) => one - other)).toEqual([0, 75, 75]);
      expect([...service.executions.values()]).toEqual([1, 1, 1]);
      folder.manifest([edit('d')]);
      const slow: Awaited<ReturnType<typeof startSlowly>>[] = [];
      const confirm = async () => slow.push(await startSlowly('five')) > 0;
      expect((await start('six', { confirm })).exitCode).toBe(75);
      slow[0]?.release();
      expect((await slow[0]?.run)?.exitCode).toBe(0);
      expect(service.executions.get('d')).toBe(1);
    });
  });

  it('is refused where another run has bought its rows while it was asked, and has ended [fault 19]', async () => {
    const confirm = async () => (await start('one')).exitCode === 0;
    const { exitCode, reason } = await start('two', { confirm });
    expect([exitCode, reason]).toEqual([
      75,
      expect.stringContaining(`The run in ${folder.path}/one went on while this start was checked`),
    ]);
    expect([...service.executions.values()]).toEqual([1, 1, 1]);
    expect((await start('two', { same: 'refuse' })).exitCode).toBe(2);
  });

  it('goes where a run of its rows was settled meanwhile, and has sent nothing', async () => {
    service.behave = () => 'lose-answer';
    const { out } = await start('one', { only: ['a'] });
    service.behave = () => 'complete';
    const confirm = async () => (await settleRow(out, 'a', { notSent: true })) !== undefined;
    expect(await start('two', { confirm })).toMatchObject({ exitCode: 0 });
  });

  describe('and whose folder is gone', () => {
    const lose = (name: string) => rename(join(folder.path, name), join(folder.path, 'lost'));
    const warnings = ({ events }: Awaited<ReturnType<typeof start>>) =>
      events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));

    it('is said of the rows that it has bought, and of no other row', async () => {
      const { out } = await start('monday', { limit: 2 });
      await lose('monday');
      const tuesday = await start('tuesday', { same: 'refuse' });
      expect(tuesday.bought).toMatchObject({
        rows: 2,
        elsewhere: [out],
        isLost: true,
        first: [{ id: 'a' }, { id: 'b' }],
      });
      expect(tuesday.bought).not.toHaveProperty('isHere');
      expect(tuesday.exitCode).toBe(2);
      expect(warnings(tuesday)).toEqual([]);
      expect((await start('tuesday', { only: ['c'] })).bought).toBeUndefined();
      // In its own folder, too; the third row has been bought since.
      const monday = await start('monday', { same: 'refuse' });
      expect(monday.bought).toMatchObject({ rows: 3, isHere: true });
      folder.manifest([edit('a', 'tuesday'), edit('b', 'tuesday too')]);
      expect(await start('monday')).toMatchObject({ exitCode: 0, bought: undefined });
    });

    it('is known by the rows that were sent: a copy in a folder of its own, and paths to other pictures', async () => {
      const withPath = [{ ...edit('a'), images: ['a.png'] }];
      const based = (host: string, path: string) => ({
        manifest: { path, resolveImage: (picture: string) => `https://${host}/${picture}` },
      });
      const { out } = await start('one', based('monday.example', folder.manifest(withPath)));
      await lose('one');
      const other = runFolder();
      const there = async (host: string) => {
        const path = other.manifest(withPath);
        const { events } = await other.run(service, { ...based(host, path), same: 'refuse' });
        return events.flatMap((event) => (event.type === 'checked' ? [event.ahead.bought] : []))[0];
      };
      expect(await there('monday.example')).toMatchObject({ rows: 1, elsewhere: [out], isLost: true });
      expect(await there('tuesday.example')).toBeUndefined();
      other.remove();
    });

    it('says nothing where it has bought nothing: its key or its rows were refused', async () => {
      service.behave = () => 'reject';
      expect((await start('one')).exitCode).toBe(1);
      await lose('one');
      service.behave = () => 'complete';
      await start('two', { apiKey: 'another-key' });
      await rm(join(folder.path, 'two'), { recursive: true });
      const bought = [];
      for (const [id, name] of ['one', 'two', 'three'].entries())
        bought.push((await start(name, { only: ['abc'.charAt(id)] })).bought);
      expect(bought).toEqual([undefined, undefined, undefined]);
    });

    it('remembers what runs have bought that were in the folder before', async () => {
      await start('one', { only: ['a'] });
      await lose('one');
      expect((await start('one', { only: ['b'] })).bought).toBeUndefined();
      await rm(join(folder.path, 'one'), { recursive: true });
      expect((await start('one', { same: 'refuse' })).bought).toMatchObject({ rows: 2 });
    });

    it('remembers them also once another run is in the folder: for that run, and for one in another folder', async () => {
      const { out } = await start('one', { only: ['a'] });
      await lose('one');
      expect((await start('one', { only: ['b'] })).bought).toBeUndefined();
      const again = await start('one', { same: 'refuse' });
      const lost = { isLost: true, isReplaced: true };
      expect(again.bought).toMatchObject({
        rows: 1,
        elsewhere: [out],
        isHere: true,
        ...lost,
        first: [{ id: 'a' }],
      });
      expect(again.exitCode).toBe(2);
      expect((await start('two', { same: 'refuse' })).bought).toMatchObject({ rows: 2, ...lost });
      expect((await start('one', { only: ['c'] })).bought).toBeUndefined();
      // The rows that were bought again count as its own.
      expect(await start('one')).toMatchObject({ exitCode: 0, bought: { rows: 1 } });
      expect((await start('one')).bought).toBeUndefined();
    });

    it('says that it does not know all that a killed run has bought which was there before', async () => {
      const { out } = await start('one', { only: ['a'] });
      forget(out);
      await lose('one');
      expect((await start('one', { only: ['b'] })).bought).toMatchObject({ rows: 1, isLost: true });
      const unknown = [expect.stringContaining(`rows of this manifest were in the run in ${out}`)];
      expect(warnings(await start('one', { only: ['c'] }))).toEqual(unknown);
      expect(warnings(await start('two', { only: ['a'] }))).toEqual(unknown);
    });

    it('counts each row of --repeat, because it is not noted how often a request was bought', async () => {
      const path = folder.manifest([edit('a')]);
      const { out } = await start('one', { manifest: { path, repeat: 3 } });
      await lose('one');
      const two = await start('two', { manifest: { path, repeat: 3 }, same: 'refuse' });
      expect(two).toMatchObject({ exitCode: 2, bought: { rows: 3, elsewhere: [out] } });
    });

    it('remembers what earlier starts have bought where the last one was killed', async () => {
      const { out } = await start('one', { only: ['a'] });
      let meanwhile = '';
      service.behave = () => {
        meanwhile = readFileSync(noteOf(out), 'utf8');
        return 'complete';
      };
      await start('one', { only: ['b'] });
      writeFileSync(noteOf(out), meanwhile);
      await lose('one');
      const two = await start('two', { same: 'refuse' });
      expect(two).toMatchObject({
        exitCode: 2,
        bought: { rows: 2, elsewhere: [out], first: [{ id: 'a' }, { id: 'b' }] },
      });
      expect(warnings(two)).toEqual([expect.stringContaining(`in the run in ${out}, whose journal is gone`)]);
    });

    it('is not read once more where a start has changed nothing, and is where a person has settled a row since', async () => {
      service.behave = (id) => (id === 'b' ? 'lose-answer' : 'complete');
      const { out } = await start('one', { only: ['a', 'b'] });
      const hosts = { baseUrl: '', lbBaseUrl: '' };
      const count = async () => (await boughtThere(nodeDisk, out, hosts))?.size;
      expect(await count()).toBe(2);
      truncateSync(keysOf(out));
      await start('one', { only: ['a'] });
      expect(await count()).toBe(0);
      await settleRow(out, 'b', { notSent: true });
      await start('one', { only: ['a'] });
      expect(await count()).toBe(1);
    });

    /** Breaks a row off when it is sent, while the rows before it are noted: as a process that is killed. */
    const kill = async (out: string, ids: readonly string[], before = 0) => {
      let release = (): void => undefined;
      const hold = new Promise<void>((resolve) => (release = resolve));
      service.behave = (id) => (id === ids.at(-1) ? { hold } : 'complete');
      const end = start(out, { only: ids });
      const noted = async () =>
        (await boughtThere(nodeDisk, join(folder.path, out), { baseUrl: '', lbBaseUrl: '' }))?.size;
      await until(async () => (await noted()) === before + ids.length);
      const meanwhile = readFileSync(noteOf(join(folder.path, out)), 'utf8');
      release();
      await end;
      writeFileSync(noteOf(join(folder.path, out)), meanwhile);
      service.behave = () => 'complete';
    };

    it('knows the rows of a run that was killed, also the last one which waits for its answer', async () => {
      await kill('one', ['a', 'b']);
      await lose('one');
      const two = await start('two', { same: 'refuse' });
      expect(two).toMatchObject({ exitCode: 2, bought: { rows: 2, first: [{ id: 'a' }, { id: 'b' }] } });
      expect(warnings(two)).toEqual([expect.stringContaining('whose journal is gone')]);
      expect((await start('two', { only: ['c'] })).exitCode).toBe(0);
    });

    it('knows them where the run was gone on with, and where another run was in the folder since', async () => {
      await kill('one', ['a']);
      await kill('one', ['b'], 1);
      await lose('one');
      expect((await start('one', { only: ['c'] })).exitCode).toBe(0);
      await rm(join(folder.path, 'one'), { recursive: true });
      expect((await start('two', { same: 'refuse' })).bought).toMatchObject({ rows: 3 });
    });

    it.each([
      [0, 2],
      [1, 2],
      [20, 2],
      [80, 0],
    ])('compares what is left of a note that lacks %i bytes', async (bytes, rows) => {
      const { out } = await start('one', { only: ['a', 'b'] });
      const path = noteOf(out);
      truncateSync(path, readFileSync(path).length - bytes);
      await lose('one');
      const two = await start('two', { same: 'refuse' });
      expect([two.exitCode, two.bought?.rows ?? 0]).toEqual([rows === 0 ? 0 : 2, rows]);
      expect(warnings(two)).toHaveLength(bytes === 0 ? 0 : 1);
    });

    it.each([
      [3, 2],
      [11, 1],
    ])(
      'compares what is left where the last %i bytes of what it has bought are lost',
      async (bytes, rows) => {
        const { out } = await start('one', { only: ['a', 'b'] });
        truncateSync(keysOf(out), readFileSync(keysOf(out)).length - bytes);
        await lose('one');
        expect((await start('two', { same: 'refuse' })).bought).toMatchObject({ rows });
      },
    );

    it('has noted a row before its request leaves', async () => {
      const out = join(folder.path, 'one');
      const noted: number[] = [];
      service.behave = () => (noted.push(readFileSync(keysOf(out)).length), 'complete');
      await start('one', { only: ['a', 'b'] });
      // By how it is written, and by what it asks for.
      expect(noted).toEqual([16, 32]);
    });

    it('compares the lists of older versions, also where the run has gone on since', async () => {
      const { out } = await start('one', { only: ['a'] });
      const { endpoint, images, prompt } = edit('b');
      const request = { kind: 'edit', input: { images, prompt } };
      const hash = askedHash({ kind: 'edit', endpoint, columns: {}, hash: '', request }).slice(0, 16);
      const [line = '', ...closed] = readFileSync(noteOf(out), 'utf8').split('\n');
      const note = { ...(JSON.parse(line) as object), bought: { written: hash, sent: hash } };
      writeFileSync(noteOf(out), [JSON.stringify(note), ...closed].join('\n'));
      await start('one', { only: ['c'] });
      await lose('one');
      const found = { rows: 3, first: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] };
      expect((await start('two', { same: 'refuse' })).bought).toMatchObject(found);
    });

    it('compares what stands behind a line that cannot be read', async () => {
      const { out } = await start('one', { only: ['a'] });
      await start('one', { only: ['b'] });
      const lines = readFileSync(noteOf(out), 'utf8').split('\n');
      writeFileSync(noteOf(out), lines.toSpliced(1, 0, '\0\0\0').join('\n'));
      await lose('one');
      const two = await start('two', { same: 'refuse' });
      expect(two).toMatchObject({ exitCode: 2, bought: { rows: 2 } });
      expect(warnings(two)).toHaveLength(1);
    });

    it('remembers what was noted in another place, because the usual one could not be written', async () => {
      const { out } = await start('one', { only: ['a'] });
      vi.stubEnv('TMPDIR', folder.path);
      const usual = process.env['XDG_STATE_HOME'];
      vi.stubEnv('XDG_STATE_HOME', folder.manifest([edit('a'), edit('b'), edit('c')]));
      await start('one', { only: ['b'] });
      vi.stubEnv('XDG_STATE_HOME', usual);
      await lose('one');
      expect((await start('two', { same: 'refuse' })).bought).toMatchObject({ rows: 2, elsewhere: [out] });
    });

    it('remembers what was noted before, where the disk is full at the end of a start', async () => {
      const { out } = await start('one', { only: ['a'] });
      const open: Disk['open'] = async (path, ...rest) => {
        const file = await nodeDisk.open(path, ...rest);
        if (!path.includes('/bought/')) return file;
        const write: DiskFile['write'] = async (bytes, position) => {
          await file.write(bytes.subarray(0, bytes.length >> 1), position);
          throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
        };
        return { ...file, write };
      };
      const full = await start('one', { only: ['b'], disk: { ...nodeDisk, open } });
      expect(warnings(full)).toEqual([expect.stringContaining('cannot be noted in')]);
      await lose('one');
      // What the second start has bought is in the file beside the note, which was open.
      expect((await start('two', { same: 'refuse' })).bought).toMatchObject({ rows: 2, elsewhere: [out] });
    });

    it.each([['that could note nothing', false] as const, ['of an older version', true] as const])(
      'is said of a run %s, of which it is not known what it has bought',
      async (_, isOld) => {
        const { out } = await start('disk/monday');
        forget(out, isOld);
        // An old folder that was removed on purpose is only named.
        await rename(out, join(folder.path, 'lost'));
        writeFileSync(join(folder.path, 'disk/sunday'), '');
        const tuesday = await start('tuesday', { only: ['a'] });
        expect(tuesday).toMatchObject({ exitCode: 0, bought: undefined });
        expect(warnings(tuesday)).toEqual([
          expect.stringContaining(`rows of this manifest were in the run in ${out}, whose journal is gone`),
        ]);
        await rm(join(folder.path, 'disk/sunday'));
        const wednesday = await start('wednesday', { same: 'refuse', only: ['b', 'c'] });
        expect(wednesday.bought).toMatchObject({ rows: 2, elsewhere: [out], isLost: true });
        expect(wednesday.exitCode).toBe(2);
        await rm(join(folder.path, 'disk'), { recursive: true });
        expect((await start('wednesday', { same: 'refuse' })).bought).toMatchObject({ rows: 3 });
        folder.manifest([edit('a', 'thursday')]);
        expect(await start('thursday')).toMatchObject({ exitCode: 0, bought: undefined });
      },
    );

    it('is said of rows that are still to arrive', async () => {
      const rows = (...ids: readonly string[]) => ({ manifest: { rows: ids.map((id) => edit(id)) } });
      const { out } = await start('live', rows('a'));
      expect((await start('live', rows('b'))).exitCode).toBe(0);
      await lose('live');
      const again = await start('live', { ...rows('c'), same: 'refuse' });
      expect([again.exitCode, again.reason]).toEqual([
        2,
        expect.stringContaining(`rows that arrive may ask for what may have been bought already, in ${out}`),
      ]);
      expect(service.executions.has('c')).toBe(false);
      expect((await start('other', { ...rows('c'), same: 'refuse' })).exitCode).toBe(0);
    });
  });
});
