import { describe, expect, it } from 'vitest';
import { ExpiringPictures } from '../../../../runners/batch/pictures/expiring-pictures.js';
import { edit } from '../../../support/manifest-rows.js';
import { paperRun } from '../../../support/paper-run.js';

const hour = 3_600_000;
const day = 24 * hour;

describe('ExpiringPictures', () => {
  it('tells of URLs that die within two days, and of no others', () => {
    const pictures = new ExpiringPictures(0);
    pictures.see('far', 49 * hour);
    expect(pictures.warning(0)).toBeUndefined();
    pictures.see('near', 30 * hour);
    pictures.see('nearer', 10 * hour);
    expect(pictures.warning(hour)).toBe(
      '2 pictures are paid for and not saved yet; the first URL expires at 1970-01-01T10:00:00.000Z, in 9 h: run again, or fetch with refetch.',
    );
    pictures.saved('nearer');
    expect(pictures.warning(hour)).toMatch(/^1 picture is paid for .* in 29 h/);
    pictures.saved('near');
    expect(pictures.warning(hour)).toBeUndefined();
  });

  it('tells of those that are gone', () => {
    const pictures = new ExpiringPictures(0);
    pictures.see('gone', -hour);
    expect(pictures.warning(0)).toBe(
      '1 picture is paid for and not saved. The URLs of 1 are older than 7 days, and probably no longer valid.',
    );
    pictures.see('near', 10 * hour);
    expect(pictures.warning(0)).toMatch(/^1 picture .* in 10 h: .*\. The URLs of 1 are older/);
  });
});

describe('a run', () => {
  const warnings = (end: Awaited<ReturnType<ReturnType<typeof paperRun>['start']>>) =>
    end.events.flatMap((event) =>
      event.type === 'warning' && event.code === 'expiry' ? [event.message] : [],
    );

  it('warns before day 7 of pictures that were left at their URLs', async () => {
    const run = paperRun();
    run.manifest([edit('a'), edit('b')]);
    expect(warnings(await run.start({ download: false }))).toEqual([]);
    run.scheduler.frame += 4 * day;
    expect(warnings(await run.start({ download: false }))).toEqual([]);
    run.scheduler.frame += 2 * day;
    expect(warnings(await run.start({ download: false }))).toEqual([
      expect.stringMatching(/^2 pictures are paid for and not saved yet; .* in 24 h/),
    ]);
  });

  it('warns of pictures that cannot be downloaded, until one can be', async () => {
    const run = paperRun();
    run.service.picture = () => 500;
    run.manifest([edit('a'), edit('b')]);
    expect((await run.start({ retries: 0 })).exitCode).toBe(1);
    run.scheduler.frame += 6 * day;
    expect(warnings(await run.start({ retries: 0 }))).toEqual([expect.stringMatching(/^2 pictures are/)]);
    run.service.picture = () => 200;
    expect(warnings(await run.start({ only: ['b'] }))).toEqual([expect.stringMatching(/^1 picture is/)]);
    expect(warnings(await run.start())).toEqual([]);
  });
});
