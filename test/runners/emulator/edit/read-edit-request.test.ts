import { describe, expect, it } from 'vitest';
import { readEditRequest } from '../../../../runners/emulator/edit/read-edit-request.js';

const images = ['http://a.test/1.png'];

describe('readEditRequest', () => {
  it('fills in the defaults and ignores further fields', () => {
    expect(readEditRequest({ images, prompt: 'x', seed: 7 })).toEqual({
      images,
      prompt: 'x',
      resolution: '1k',
      output_format: 'png',
      enable_base64_output: false,
    });
  });

  it.each([
    [{ prompt: 'x' }, /^input\.images: must be an array/],
    [{ images: 'http://a.test/1.png', prompt: 'x' }, /^input\.images: must be an array/],
    [{ images: [], prompt: 'x' }, /^input\.images: must have 1 to 14 entries/],
    [{ images: Array(15).fill(images[0]), prompt: 'x' }, /^input\.images: must have 1 to 14 entries/],
    [{ images: ['ftp://a.test/x'], prompt: 'x' }, /^input\.images\.0: invalid image URL "ftp:/],
    [{ images: ['pictures/a.png'], prompt: 'x' }, /invalid image URL/],
    [{ images: ['file:///etc/passwd'], prompt: 'x' }, /invalid image URL/],
    [{ images: [7], prompt: 'x' }, /^input\.images\.0: /],
    [{ images }, /^input\.prompt: must be a text/],
    [{ images, prompt: '  ' }, /^input\.prompt: must not be empty/],
    [{ images, prompt: 'x', resolution: '8k' }, /^input\.resolution: must be 1k, 2k or 4k/],
    [{ images, prompt: 'x', resolution: '2K' }, /^input\.resolution/],
    [{ images, prompt: 'x', aspect_ratio: '16x9' }, /^input\.aspect_ratio: must be of the form/],
    [{ images, prompt: 'x', aspect_ratio: '0:1' }, /^input\.aspect_ratio/],
    [{ images, prompt: 'x', aspect_ratio: 1.5 }, /^input\.aspect_ratio/],
    [{ images, prompt: 'x', output_format: 'webp' }, /^input\.output_format: must be png or jpeg/],
    [
      { images, prompt: 'x', enable_base64_output: 'yes' },
      /^input\.enable_base64_output: must be true or false/,
    ],
  ])('refuses %o', (input, message) => {
    expect(() => readEditRequest(input)).toThrow(message);
  });

  it('takes 14 images', () => {
    expect(readEditRequest({ images: Array(14).fill(images[0]), prompt: 'x' }).images).toHaveLength(14);
  });
});
