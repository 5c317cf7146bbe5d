import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startOtherServer, type OtherServer } from '../../support/other-server.js';
import { runFolder, type RunFolder } from '../../support/run-folder.js';

let server: OtherServer;
let folder: RunFolder;

beforeEach(async () => {
  server = await startOtherServer();
  folder = runFolder();
});
afterEach(async () => {
  await server.close();
  folder.remove();
});

const edit = (id: string, more: object = {}) => ({
  id,
  endpoint: 'image-edit',
  images: ['http://example.test/a.png'],
  prompt: id,
  ...more,
});

describe('runBatch', () => {
  it('completes edits, saves their pictures and writes every file', async () => {
    folder.manifest([edit('a'), edit('b', { resolution: '4k', note: 'mine' })]);
    const { exitCode, reason, summary } = await folder.run(server, { concurrency: 1 });
    expect(reason).toBe('2 rows completed.');
    expect(exitCode).toBe(0);
    expect(folder.lines('results.jsonl')).toMatchObject([
      {
        id: 'a',
        row: 1,
        kind: 'edit',
        status: 'completed',
        cost: 0.0875,
        image: { path: 'images/a.png' },
        attempts: 1,
      },
      { id: 'b', row: 2, cost: 0.175, image: { path: 'images/b.png' }, columns: { note: 'mine' } },
    ]);
    expect(folder.text('failures.jsonl')).toBe('');
    expect(folder.costs()).toMatchObject([
      { id: 'a', attempt: '1', cost: '0.0875', source: 'reported' },
      { id: 'b', resolution: '4k', cost: '0.175' },
    ]);
    expect(summary).toMatchObject({
      rows: { total: 2, completed: 2, failed: 0, toDo: 0 },
      cost: { reported: 0.2625 },
    });
  });
});
