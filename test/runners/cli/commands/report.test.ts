import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

describe('millrace report', () => {
  let work: Rehearsal;
  beforeEach(async () => {
    work = await openRehearsal();
    await work.write('rows.jsonl', echoJobs(2));
    await work.call('run', 'rows.jsonl');
  });
  afterEach(() => work.close());

  it('writes again what the run wrote at its end', async () => {
    expect((await work.everything('rows.out')).has(join(work.folder, 'rows.out', 'report.html'))).toBe(true);
    await rm(join(work.folder, 'rows.out', 'report.html'));
    expect(await work.call('report', 'rows.out')).toMatchObject({
      code: 0,
      stdout: 'rows.out/report.html: 2 rows\n',
      stderr: '',
    });
    const html = (await work.everything('rows.out')).get(join(work.folder, 'rows.out', 'report.html'));
    expect(html).toContain('<html');
    expect(html).not.toContain(work.emulator.apiKey);
  });

  it('wants a folder with a run in it', async () => {
    expect((await work.call('report', 'nowhere')).code).toBe(2);
  });
});
