import { Subject } from 'rxjs';
import { expect, it } from 'vitest';
import type { StopOrder } from '../../../../runners/batch/run-batch.js';
import { paperRun } from '../../../support/paper-run.js';

it('leaves no row out of the files whose outcome was on its way when the run was told to end at once', async () => {
  for (let call = 1; call <= 600; call++) {
    const run = paperRun();
    run.service.behave = (row) => (row === 'b' ? 'fail' : 'complete');
    const images = ['http://example.test/a.png'];
    run.manifest(['a', 'b', 'c'].map((id) => ({ id, endpoint: 'image-edit', images, prompt: id })));
    const stop = new Subject<StopOrder>();
    const sync = run.disk.open.bind(run.disk);
    let calls = 0;
    run.disk.open = async (path, flags) => {
      const file = await sync(path, flags);
      const counted = async <T>(work: () => Promise<T>): Promise<T> => {
        if (++calls === call) stop.next('now');
        return work();
      };
      return {
        ...file,
        write: (bytes, at) => counted(() => file.write(bytes, at)),
        sync: () => counted(() => file.sync()),
      };
    };
    await run.start({ stop });
    if (calls < call) return expect(call).toBeGreaterThan(20);
    run.disk.open = sync;
    await run.start();
    const ids = [...run.lines('results.jsonl'), ...run.lines('failures.jsonl')].map(({ id }) => id).sort();
    expect(ids, `told to end at call ${call}`).toEqual(['a', 'b', 'c']);
  }
});
