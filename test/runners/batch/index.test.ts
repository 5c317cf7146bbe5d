import { describe, expect, it } from 'vitest';
import * as batch from '../../../runners/batch/index.js';

describe('millrace/batch', () => {
  it('has these names', () => {
    expect(Object.keys(batch).sort()).toEqual([
      'buyRows',
      'createLedger',
      'createPriceBook',
      'endRow',
      'journalled',
      'nodeDisk',
      'openJournal',
      'planManifest',
      'readManifest',
      'readPriceFile',
      'readStatus',
      'refetch',
      'runBatch',
      'runStages',
      'savePictures',
      'settleRow',
      'takeRows',
      'toPriceList',
      'withinLedger',
    ]);
  });
});
