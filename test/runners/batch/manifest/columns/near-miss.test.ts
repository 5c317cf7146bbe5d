import { describe, expect, it } from 'vitest';
import { nearMiss } from '../../../../../runners/batch/manifest/columns/near-miss.js';
import { fieldNames } from '../../../../../runners/batch/manifest/columns/manifest-fields.js';

describe('nearMiss', () => {
  it.each([
    ['Resolution', 'resolution'],
    ['aspect-ratio', 'aspect_ratio'],
    ['Aspect Ratio', 'aspect_ratio'],
    ['outputFormat', 'output_format'],
    ['promt', 'prompt'],
    ['pormpt', 'prompt'],
    ['prompts', 'prompt'],
    ['image', 'images'],
    [' images', 'images'],
    ['imgaes', 'images'],
    ['ID', 'id'],
    ['ï»¿id', 'id'],
    ['Kind', 'kind'],
    ['job_id', 'jobId'],
    ['inputs', 'input'],
    ['Input.steps', 'input.steps'],
    ['inputs.a.b', 'input.a.b'],
    ['Body.x', 'body.x'],
    ['metod', 'method'],
    ['resolutoin', 'resolution'],
    ['resulotion', 'resolution'],
    ['aspekt_rato', 'aspect_ratio'],
    ['output-fromat', 'output_format'],
  ])('takes %s for %s', (name, field) => {
    expect(nearMiss(name, fieldNames)).toBe(field);
  });

  it.each([
    'title',
    'sku',
    'ids',
    'bind',
    'format',
    'size',
    'photo',
    'url',
    'model',
    'note',
    'rating',
    'solution',
    'evolution',
    'input.Steps',
    'a.b',
    '',
  ])('takes %j for nothing else', (name) => {
    expect(nearMiss(name, fieldNames)).toBeUndefined();
  });

  it.each(fieldNames)('leaves %s alone', (name) => {
    expect(nearMiss(name, fieldNames)).toBeUndefined();
  });
});
