import { describe, expect, it } from 'vitest';
import {
  imageEditDefaults,
  imageEditInputSchema,
  looseImageEditInputSchema,
} from '../../../src/contract/image-edit.js';
import { imageEditOutputSchema } from '../../../src/contract/service-replies.js';

const images = ['https://pictures.example/a.png'];
const input = { images, prompt: 'make it blue' };

function problems(value: unknown): string[] {
  const parsed = imageEditInputSchema.safeParse(value);
  return parsed.error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}

describe('imageEditInputSchema', () => {
  it('takes what is required, and adds nothing', () => {
    expect(imageEditInputSchema.parse(input)).toEqual(input);
  });

  it('takes everything', () => {
    const all = {
      ...input,
      resolution: '4k',
      aspect_ratio: '16:9',
      output_format: 'jpeg',
      enable_base64_output: true,
    };
    expect(imageEditInputSchema.parse(all)).toEqual(all);
  });

  it('takes 2K for 2k', () => {
    expect(imageEditInputSchema.parse({ ...input, resolution: '2K' }).resolution).toBe('2k');
  });

  it.each([1, 3, 14])('takes %i pictures', (count) => {
    expect(problems({ ...input, images: Array.from({ length: count }, () => images[0]) })).toEqual([]);
  });

  it.each([
    [{ images: [] }, 'images: needs at least 1 image URL'],
    [{ images: Array.from({ length: 15 }, () => images[0]) }, 'images: takes at most 14 image URLs'],
    [{ images: ['file:///etc/passwd'] }, 'images.0: is not an http or https URL (got "file:///etc/passwd")'],
    [
      { images: ['javascript:alert(1)'] },
      'images.0: is not an http or https URL (got "javascript:alert(1)")',
    ],
    [{ images: ['ftp://a/b'] }, 'images.0: is not an http or https URL (got "ftp://a/b")'],
    [{ images: [...images, ''] }, 'images.1: is empty (got "")'],
    [
      { images: ['http://a/b c'] },
      'images.0: contains white space or a control character (got "http://a/b c")',
    ],
    [{ images: ['http://['] }, 'images.0: is not a valid URL (got "http://[")'],
    [
      { images: [`ftp://${'a'.repeat(100)}`] },
      `images.0: is not an http or https URL (got "ftp://${'a'.repeat(54)}…")`,
    ],
    [{ prompt: '  ' }, 'prompt: is empty'],
    [{ aspect_ratio: '16x9' }, 'aspect_ratio: is not a ratio of the form <width>:<height>, such as 16:9'],
    [{ aspect_ratio: '0:1' }, 'aspect_ratio: is not a ratio of the form <width>:<height>, such as 16:9'],
  ])('refuses %j', (more, problem) => {
    expect(problems({ ...input, ...more })).toEqual([problem]);
  });

  it.each([
    ['resolution', '8k'],
    ['output_format', 'jpg'],
    ['enable_base64_output', 'yes'],
    ['enable_base64_output', 'true'],
    ['images', 'https://a/b.png'],
    ['prompt', undefined],
    ['strength', 0.5],
  ])('refuses %s = %j', (name, value) => {
    expect(problems({ ...input, [name]: value })).toHaveLength(1);
  });

  it('has defaults that it takes itself', () => {
    expect(problems({ ...input, ...imageEditDefaults })).toEqual([]);
  });
});

describe('looseImageEditInputSchema', () => {
  it('keeps other fields, and checks the known ones all the same', () => {
    expect(looseImageEditInputSchema.parse({ ...input, strength: 0.5 })).toEqual({ ...input, strength: 0.5 });
    expect(looseImageEditInputSchema.safeParse({ ...input, strength: 0.5, resolution: '8k' }).success).toBe(
      false,
    );
  });
});

describe('imageEditOutputSchema', () => {
  it('keeps what it does not know', () => {
    const output = { image_url: 'https://a/b.png', cost: 0.0875, seed: 7 };
    expect(imageEditOutputSchema.parse(output)).toEqual(output);
  });

  it.each([null, -1, 'free', Number.NaN])('takes a cost of %s as not reported', (cost) => {
    expect(imageEditOutputSchema.parse({ result: 'https://a/b.png', cost })).toEqual({
      result: 'https://a/b.png',
    });
  });

  it('takes a picture that is no text as absent', () => {
    expect(imageEditOutputSchema.parse({ image_url: null }).image_url).toBeUndefined();
  });
});
