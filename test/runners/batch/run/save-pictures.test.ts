import { throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../../runners/batch/context/run-event.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import { edit } from '../../../support/manifest-rows.js';
import { onePixel } from '../../../support/other-server.js';
import { paperRun } from '../../../support/paper-run.js';

describe('savePictures', () => {
  it('keeps a picture that came in the reply, when the start died between the reply and the outcome', async () => {
    const run = paperRun();
    run.service.behave = () => 'inline';
    const images = ['http://example.test/a.png'];
    run.manifest([{ id: 'a', endpoint: 'image-edit', images, prompt: 'a' }]);
    await run.start();
    const [whole] = run.lines('results.jsonl');
    expect(whole).toMatchObject({ id: 'a', image: { path: 'images/a.png' } });

    const journal = run.text('journal.jsonl').split('\n');
    const outcome = journal.findIndex((line) => line.includes('"k":"outcome"'));
    run.disk.plant('/job/out/journal.jsonl', `${journal.slice(0, outcome).join('\n')}\n`);
    await run.start();
    const [again] = run.lines('results.jsonl');
    expect(again).toMatchObject({ id: 'a', output: whole?.['output'], image: whole?.['image'] });
    expect(run.costs()).toHaveLength(1);
    expect(run.service.executions.get('a')).toBe(1);
  });

  it('says nothing of the key where a redirect of the picture leads to a place named like it', async () => {
    const run = paperRun();
    const { apiKey = '' } = run.options();
    const images = ['http://example.test/a.png'];
    run.manifest([{ id: 'a', endpoint: 'image-edit', images, prompt: 'a' }]);
    const refused = new TransportError(
      'connect',
      'ECONNREFUSED',
      'no',
      false,
      `GET elsewhere/${apiKey}: refused`,
    );
    const { summary } = await run.start({ saveFrom: () => throwError(() => refused), retries: 0 });
    expect(summary.failures).toEqual({ download: 1 });
    expect(run.text('failures.jsonl')).toContain('GET elsewhere/[redacted]: refused');
    expect(run.text('journal.jsonl') + run.text('failures.jsonl') + run.text('run.log')).not.toContain(
      apiKey,
    );
  });

  describe('where an edit is answered with a URL and with another picture as text', () => {
    const preview = Buffer.concat([onePixel, Buffer.from('a smaller one')]);
    const text = `data:image/png;base64,${preview.toString('base64')}`;
    const image_url = 'https://paper.test/pictures/a.png';
    const url = { url: image_url, expiresAt: expect.any(String) as string };
    const start = (output: Readonly<Record<string, unknown>>, picture: (nth: number) => number) => {
      const run = paperRun();
      run.service.behave = () => ({ output: { image_url, cost: 0.0875, ...output } });
      run.service.picture = (_, nth) => picture(nth);
      run.manifest([edit('a')]);
      return run.start().then((end) => ({ run, end }));
    };
    const warnings = ({ events }: { readonly events: readonly RunEvent[] }) =>
      events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));

    it('saves the one at the URL', async () => {
      const { run } = await start({ preview: text }, (nth) => (nth < 3 ? 500 : 200));
      expect(run.disk.peek('/job/out/images/a.png')).toEqual(onePixel);
      expect(run.lines('results.jsonl')).toMatchObject([{ output: { preview: text } }]);
    });

    it.each([403, 404, 410])('saves the one in the reply where its host answers %s', async (status) => {
      const { run, end } = await start({ preview: text }, () => status);
      expect(end.exitCode).toBe(0);
      expect(run.disk.peek('/job/out/images/a.png')).toEqual(preview);
      expect(run.lines('results.jsonl')).toMatchObject([
        {
          output: { preview: 'images/a.png', image_url },
          image: { path: 'images/a.png', ...url, problem: `HTTP ${status}` },
        },
      ]);
      expect(run.costs()).toHaveLength(1);
      expect(warnings(end)).toEqual([expect.stringContaining(`could not be fetched (HTTP ${status})`)]);
      expect((await run.start()).reason).toContain('Nothing to do');
      expect(run.service.posts).toEqual(['a']);
    });

    it.each([503, 204])('waits where the host answers %s, until the URL has expired', async (status) => {
      const { run, end } = await start({ preview: text }, () => status);
      expect(end).toMatchObject({ exitCode: 1, summary: { failures: { download: 1 } } });
      run.scheduler.frame += 6 * 24 * 3_600_000;
      expect((await run.start()).exitCode).toBe(1);
      expect(run.disk.peek('/job/out/images/a.png')).toBeUndefined();
      run.scheduler.frame += 24 * 3_600_000;
      const last = await run.start();
      expect(last).toMatchObject({ exitCode: 0, summary: { rows: { completed: 1, failed: 0 } } });
      expect(run.disk.peek('/job/out/images/a.png')).toEqual(preview);
      expect(run.costs()).toHaveLength(1);
    });

    it.each([
      ['cut short', { preview: text.slice(0, -24) }],
      ['no picture', { preview: Buffer.alloc(500).toString('base64') }],
    ])('saves none where the one in the reply is %s', async (_, output) => {
      const { run, end } = await start(output, () => 404);
      expect(end).toMatchObject({ exitCode: 1, summary: { failures: { download: 1 } } });
      expect(run.disk.paths().filter((path) => path.includes('images/'))).toEqual([]);
    });

    it('counts such rows at the end', async () => {
      const run = paperRun();
      run.service.behave = (row) => ({
        output: { preview: text, image_url: `https://paper.test/pictures/${row}.png`, cost: 0.0875 },
      });
      run.service.picture = () => 404;
      run.manifest([edit('a'), edit('b'), edit('c')]);
      expect(warnings(await run.start())).toEqual([
        expect.stringContaining('"a": the picture at the URL of its reply could not be fetched (HTTP 404)'),
        expect.stringContaining('3 edits of this start have the picture in their replies'),
      ]);
    });
  });
});
