import { describe, expect, it } from 'vitest';
import { manifestFormat } from '../../../../runners/batch/manifest/manifest-settings.js';

describe('manifestFormat', () => {
  it.each([
    ['edits.csv', 'csv', false],
    ['a/b.c/EDITS.CSV', 'csv', false],
    ['edits.csv.gz', 'csv', true],
    ['edits.jsonl', 'jsonl', false],
    ['edits.ndjson', 'jsonl', false],
    ['edits.ndjson.GZ', 'jsonl', true],
    ['edits.jsonl.gz', 'jsonl', true],
  ])('takes %s for %s, gzip: %s', (path, format, gzip) => {
    expect(manifestFormat(path)).toEqual({ format, gzip });
  });

  it.each(['edits', 'edits.json', 'edits.csv.zip', 'csv', 'edits.gz', 'edits.csv/x'])(
    'does not know %s',
    (path) => {
      expect(manifestFormat(path)).toBeUndefined();
    },
  );
});
