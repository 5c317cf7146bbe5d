import { throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { TransportError } from '../../../../src/transport/transport-error.js';
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
});
