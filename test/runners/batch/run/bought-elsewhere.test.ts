import { writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startOtherServer, type OtherServer } from '../../../support/other-server.js';
import { runFolder, type RunFolder } from '../../../support/run-folder.js';
import { until } from '../../../support/until.js';
import { basedImage } from '../../../../runners/batch/manifest/rows/row-images.js';
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
  });
  afterEach(async () => {
    await service.close();
    folder.remove();
  });

  const start = async (name: string, options: Partial<RunBatchOptions> = {}) => {
    const out = join(folder.path, name);
    const end = await folder.run(service, { out, download: false, concurrency: 1, ...options });
    const checked = end.events.find((event) => event.type === 'checked');
    return { ...end, out, bought: checked?.type === 'checked' ? checked.ahead.bought : undefined };
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

  it('names each folder, the one that went on last first', async () => {
    const one = await start('one', { limit: 1 });
    const two = await start('two', { only: ['b'] });
    expect((await start('three')).bought).toMatchObject({ rows: 2, elsewhere: [two.out, one.out] });
  });

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

    it('is refused while workers may have rows that it sends, though its process is dead [fault 19]', async () => {
      const { out } = await start('one', { limit: 1 });
      const note = { key: 'a-run', database: 'postgres://db.example/millrace' };
      const keepNote = (isOpen: boolean) =>
        writeFileSync(join(out, 'distributed.json'), JSON.stringify({ ...note, isOpen }));
      keepNote(true);
      const refused = await start('two', { only: ['a'] });
      expect([refused.exitCode, refused.reason]).toEqual([
        75,
        expect.stringContaining(`${out} has not ended: its workers (${note.database}) may send rows`),
      ]);
      expect((await start('two', { only: ['b'] })).exitCode).toBe(0);
      keepNote(false);
      expect((await start('two', { only: ['c'] })).exitCode).toBe(0);
      expect([...service.executions.values()]).toEqual([1, 1, 1]);
    });

    it('goes with starts of its other rows, and with rows of other pictures under the same names', async () => {
      const first = await startSlowly('one', { only: ['a'] });
      const rest = await startSlowly('two', { only: ['b', 'c'] });
      const path = folder.manifest([edit('a')]);
      const there = start('three', { manifest: { path, resolveImage: () => 'https://other.test/a.png' } });
      for (const { release } of [first, rest]) release();
      const ends = await Promise.all([first.run, rest.run, there]);
      expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
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
});
