import { describe, expect, it } from 'vitest';
import * as batch from '../../../runners/batch/index.js';

describe('millrace/batch', () => {
  it('has these names', () => {
    expect(Object.keys(batch).sort()).toEqual([
      'UploadError',
      'UploadNotes',
      'buyRows',
      'createLedger',
      'createPictureHost',
      'createPriceBook',
      'endRow',
      'journalled',
      'localPicture',
      'nodeDisk',
      'openJournal',
      'openS3Store',
      'parseUploadTarget',
      'planManifest',
      'readManifest',
      'readPriceFile',
      'readStatus',
      'refetch',
      'runBatch',
      'runStages',
      'savePictures',
      'settleRow',
      'settleRows',
      'takeRows',
      'toPriceList',
      'withinLedger',
    ]);
  });
});
