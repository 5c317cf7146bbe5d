import { describe, expect, it } from 'vitest';
import { readPrompt } from '../../../../runners/emulator/edit/read-prompt.js';

describe('readPrompt', () => {
  it.each([
    ['grayscale', { name: 'grayscale' }],
    ['Make it greyscale, please', { name: 'grayscale' }],
    ['in black and white', { name: 'grayscale' }],
    ['a sepia look', { name: 'sepia' }],
    ['invert the colours', { name: 'invert' }],
    ['warmer', { name: 'warm' }],
    ['a cool mood', { name: 'cool' }],
    ['blur', { name: 'blur', amount: 6 }],
    ['blur the picture by 3.5 pixels', { name: 'blur', amount: 3.5 }],
    ['blurred 12', { name: 'blur', amount: 12 }],
    ['sharpen 4', { name: 'sharpen', amount: 4 }],
    ['brighten it by 40%', { name: 'brighten', amount: 40 }],
    ['brighter', { name: 'brighten', amount: 25 }],
    ['darken 10', { name: 'darken', amount: 10 }],
    ['more contrast 50', { name: 'contrast', amount: 50 }],
    ['less contrast', { name: 'contrast', amount: -30 }],
    ['vivid', { name: 'saturate', amount: 60 }],
    ['hue 180', { name: 'hue', amount: 180 }],
    ['hue -20', { name: 'hue', amount: -20 }],
    ['tint it blue', { name: 'tint', colour: '#1e88e5' }],
    ['tint #F80', { name: 'tint', colour: '#ff8800' }],
    ['a gold tint', { name: 'tint', colour: '#d4af37' }],
    ['tint', { name: 'tint' }],
    ['pixelate 32', { name: 'pixelate', amount: 32 }],
    ['posterise to 3', { name: 'posterize', amount: 3 }],
    ['with a vignette', { name: 'vignette' }],
    ['a border', { name: 'border', amount: 24 }],
    ['a border of 40 px in navy', { name: 'border', amount: 40, colour: '#1a237e' }],
    ['a white frame of 12', { name: 'border', amount: 12, colour: '#ffffff' }],
    ['rotate', { name: 'rotate', amount: 90 }],
    ['rotate the image by 45 degrees', { name: 'rotate', amount: 45 }],
    ['rotated -30°', { name: 'rotate', amount: -30 }],
    ['rotate it left', { name: 'rotate', amount: -90 }],
    ['rotate counterclockwise by 30', { name: 'rotate', amount: -30 }],
    ['rotate to the right', { name: 'rotate', amount: 90 }],
    ['flip it', { name: 'flip' }],
    ['upside down', { name: 'flip' }],
    ['mirror', { name: 'mirror' }],
    ['flip it horizontally', { name: 'mirror' }],
    ['side by side', { name: 'side-by-side' }],
    ['stacked', { name: 'stack' }],
    ['one on top of each other', { name: 'stack' }],
    ['a double exposure', { name: 'blend' }],
    ['blend them', { name: 'blend' }],
    ['as an inset', { name: 'inset' }],
    ['caption "Hello, world"', { name: 'caption', text: 'Hello, world' }],
    ['with the words “Guten Tag”', { name: 'caption', text: 'Guten Tag' }],
    ["write 'it is so'", { name: 'caption', text: 'it is so' }],
    ['title: «Là-bas»', { name: 'caption', text: 'Là-bas' }],
  ])('finds the one edit in %j', (prompt, edit) => {
    expect(readPrompt(prompt)).toEqual([edit]);
  });

  it('finds several in the order of the prompt', () => {
    expect(
      readPrompt('Blur 2, then grayscale, with a white border and the caption "x"').map(({ name }) => name),
    ).toEqual(['blur', 'grayscale', 'border', 'caption']);
  });

  it('takes nothing out of quotes', () => {
    expect(readPrompt('caption "blur and flip it"')).toEqual([{ name: 'caption', text: 'blur and flip it' }]);
    expect(readPrompt('the sign says “rotate left”')).toEqual([{ name: 'caption', text: 'rotate left' }]);
  });

  it.each(['do not blur it', "don't rotate", 'without a border', 'no vignette', 'never flip', 'not sepia'])(
    'leaves alone what is denied: %s',
    (prompt) => {
      expect(readPrompt(prompt)).toEqual([]);
    },
  );

  it.each([
    '',
    'Put the cat upon the sofa',
    'a blurb about sharp knives',
    'sunflip',
    'the contractor said "hello"',
  ])('finds nothing in %j', (prompt) => {
    expect(readPrompt(prompt).filter(({ name }) => name !== 'caption')).toEqual([]);
  });

  it('reads the first 10,000 characters and no more', () => {
    expect(readPrompt(`${' '.repeat(9_990)}blur`).map(({ name }) => name)).toEqual(['blur']);
    expect(readPrompt(`${' '.repeat(10_000)}blur`)).toEqual([]);
  });
});
