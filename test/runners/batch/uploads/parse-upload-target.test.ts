import { expect, it } from 'vitest';
import { parseUploadTarget } from '../../../../runners/batch/uploads/picture-host.js';

it('reads bucket and prefix', () => {
  expect(parseUploadTarget('s3://my.bucket-1/a/b/')).toEqual({ bucket: 'my.bucket-1', prefix: 'a/b' });
  expect(parseUploadTarget('s3://bucket')).toEqual({ bucket: 'bucket', prefix: '' });
});

it.each(['bucket', 's3://', 's3://B', 'https://bucket/a', 's3://bucket/a?x', 's3://bucket#a'])(
  'refuses %s',
  (text) => {
    expect(() => parseUploadTarget(text)).toThrow('write s3://bucket/prefix');
  },
);
