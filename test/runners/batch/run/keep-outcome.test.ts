import { Subject } from 'rxjs';
import { expect, it } from 'vitest';
import { runBatch, type StopOrder } from '../../../../runners/batch/run-batch.js';
import { paperRun } from '../../../support/paper-run.js';

const journal = '/work/out/journal.jsonl';
const edit = (id: string) => ({
  id,
  endpoint: 'image-edit',
  images: ['http://example.test/a.png'],
  prompt: id,
});

it('makes the thumbnail of a picture that came in the reply once the reply is durable, and not before', async () => {
  const run = paperRun();
  run.service.behave = () => 'inline';
  run.manifest([edit('a')]);
  let made = 0;
  const makeThumbnail = () => {
    made++;
    const { log } = run.disk;
    expect(run.text('journal.jsonl')).toMatch(/"k":"reply".*\n.*"k":"outcome"/);
    expect(log.lastIndexOf(`sync ${journal}`)).toBeGreaterThan(log.lastIndexOf(`write ${journal}`));
    return Promise.resolve(undefined);
  };
  expect(await run.start({ makeThumbnail })).toMatchObject({ exitCode: 0 });
  expect(made).toBe(1);
});

it('names both a signal and the journal that failed after it', async () => {
  const run = paperRun({
    faults: [{ code: 'ENOSPC', path: journal, call: 'write', nth: 3, lasting: true }],
  });
  run.manifest([edit('a'), edit('b')]);
  const stop = new Subject<StopOrder>();
  const end = await run.follow(runBatch(run.options({ stop, concurrency: 1 })), (event) => {
    if (event.type === 'row' && event.event.type === 'submitting') stop.next('graceful');
  });
  expect(end.exitCode).toBe(130);
  expect(end.reason).toMatch(/^Interrupted\. .*journal\.jsonl.*space/);
});
