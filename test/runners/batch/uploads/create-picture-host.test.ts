import { mkdtemp, rm, unlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { UploadError } from '../../../../runners/batch/uploads/picture-host.js';
import { createPictureHost } from '../../../../runners/batch/uploads/create-picture-host.js';
import type { S3Store } from '../../../../runners/batch/uploads/open-s3-store.js';
import { UploadNotes } from '../../../../runners/batch/uploads/upload-notes.js';

const png = (text: string) => Buffer.from(`\x89PNG\r\n\x1a\n${text}`, 'latin1');

describe('createPictureHost', () => {
  let folder: string;
  const objects = new Map<string, Uint8Array>();
  let calls: string[] = [];
  let fault: Error | undefined;
  /** Of `has` alone. */
  let refusal: Error | undefined;
  let mayRead = true;
  const store: S3Store = {
    has(key) {
      calls.push('has');
      if (refusal !== undefined && !(mayRead && objects.has(key))) return Promise.reject(refusal);
      return Promise.resolve(objects.has(key));
    },
    add(key, bytes) {
      calls.push('add');
      if (fault !== undefined) return Promise.reject(fault);
      objects.set(key, bytes);
      return Promise.resolve();
    },
    addressOf: (key, lifetimeMs) => Promise.resolve(`https://store.test/${key}?for=${lifetimeMs}`),
  };
  const open = async () =>
    createPictureHost({
      bucket: 'b',
      prefix: 'p/q',
      store,
      folder,
      notes: await UploadNotes.open(nodeDisk, join(folder, 'uploads.jsonl')),
    });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-host-'));
    await writeFile(join(folder, 'a.png'), png('one'));
    objects.clear();
    calls = [];
    fault = undefined;
    refusal = undefined;
    mayRead = true;
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('uploads once for all rows at once, and gives an address that lives as long as it is asked to', async () => {
    await writeFile(join(folder, 'copy.png'), png('one'));
    const host = await open();
    const names = await Promise.all(['a.png', 'a.png', 'copy.png', './a.png'].map((path) => host.put(path)));
    expect(new Set(names).size).toBe(1);
    expect(names[0]).toMatch(/^s3:\/\/b\/p\/q\/[0-9a-f]{64}\.png$/);
    expect(calls.filter((call) => call === 'add')).toHaveLength(1);
    expect(await host.addressOf(names[0]!, 5_000)).toMatch(
      /^https:\/\/store\.test\/p\/q\/\w{64}\.png\?for=5000$/,
    );
    await host.close();
  });

  it('asks the store at a new start, and neither reads nor uploads what it has', async () => {
    const first = await open();
    const name = await first.put('a.png');
    await first.close();
    calls = [];
    const second = await open();
    expect(await second.put('a.png')).toBe(name);
    expect(calls).toEqual(['has']);
    objects.clear();
    expect(await (await open()).put('a.png')).toBe(name);
    expect(objects.size).toBe(1);
  });

  it('uploads a picture that has changed under another name', async () => {
    const name = await (await open()).put('a.png');
    await writeFile(join(folder, 'a.png'), png('two'));
    await utimes(join(folder, 'a.png'), 1, 1);
    expect(await (await open()).put('a.png')).not.toBe(name);
  });

  it('uploads a picture anew that was replaced by one of its size and time', async () => {
    const path = join(folder, 'a.png');
    await utimes(path, 1, 1);
    const name = await (await open()).put('a.png');
    await writeFile(path, png('two'));
    await utimes(path, 1, 1);
    expect(await (await open()).put('a.png')).not.toBe(name);
  });

  it('uploads where the store does not say what it lacks, as S3 does without s3:ListBucket', async () => {
    refusal = new UploadError('refused', 'HTTP 403');
    const host = await open();
    await host.put('a.png');
    expect(objects.size).toBe(1);
    expect(await (await open()).put('a.png')).toContain('s3://');
    expect(calls.filter((call) => call === 'add')).toHaveLength(1);
  });

  it('refuses where pictures may be uploaded and not read: the service could not fetch them', async () => {
    refusal = new UploadError('refused', 'HTTP 403');
    mayRead = false;
    await expect((await open()).put('a.png')).rejects.toThrow('HTTP 403');
  });

  it('says why the store refuses a picture, not why it refuses to say whether it has it', async () => {
    refusal = new UploadError('refused', 'HTTP 403');
    fault = new UploadError('refused', 'ExpiredToken');
    await expect((await open()).put('a.png')).rejects.toThrow('ExpiredToken');
  });

  it('tries again what failed before', async () => {
    const host = await open();
    fault = new UploadError('unreachable', 'no answer');
    await expect(host.put('a.png')).rejects.toThrow('no answer');
    fault = undefined;
    expect(await host.put('a.png')).toContain('s3://');
  });

  it('says that a picture has gone, or is none any more', async () => {
    const host = await open();
    await writeFile(join(folder, 'a.png'), 'text');
    await expect(host.put('a.png')).rejects.toMatchObject({
      why: 'picture',
      message: 'the picture "a.png" is not a picture',
    });
    await unlink(join(folder, 'a.png'));
    await expect(host.put('a.png')).rejects.toThrow('the picture "a.png" does not exist');
  });
});
