import { describe, expect, it } from 'vitest';
import {
  CellProblem,
  editFields,
  imageList,
} from '../../../../../runners/batch/manifest/columns/manifest-fields.js';

describe('imageList', () => {
  it.each<[unknown, readonly unknown[]]>([
    ['a b', ['a', 'b']],
    [' a|b  |\n c ', ['a', 'b', 'c']],
    ['["a b", "c|d"]', ['a b', 'c|d']],
    [' [] ', []],
    ['', []],
    ['photos/a.jpg b.jpg', ['photos/a.jpg', 'b.jpg']],
    ['https://x.example/w_2,h_3/a;b.png a,b.png', ['https://x.example/w_2,h_3/a;b.png', 'a,b.png']],
    ['["https://x.example/a,"]', ['https://x.example/a,']],
    ['photos/a|b.jpg', ['photos/a', 'b.jpg']],
    ['https://x.example/a b.jpg', ['https://x.example/a', 'b.jpg']],
    ['["photos/Mug 01.jpg"]', ['photos/Mug 01.jpg']],
    [
      ['a b', 3],
      ['a b', 3],
    ],
  ])('reads %j', (value, images) => {
    expect(imageList(value)).toEqual(images);
  });

  it.each<[unknown, string]>([
    ['[a', 'begins with "[", but is not JSON'],
    [7, 'is not a list of URLs, but 7'],
    ['photos/Mug 01.jpg', 'would be two pictures; write ["photos/Mug 01.jpg"] for one'],
    ['a.png My photos/01.webp', '"My photos/01.webp" would be two pictures'],
    ['Mug 01.JPG|b.png', '"Mug 01.JPG" would be two pictures'],
    [
      'https://x.example/a.png, https://x.example/b.png',
      'has "," behind "https://x.example/a.png": separate pictures by a blank or |, or write ["https://x.example/a.png,"] if',
    ],
    ['https://x.example/a.png;https://x.example/b.png', 'has ";" behind "https://x.example/a.png"'],
    ['a.png , b.png', 'has "," behind ""'],
    ['a.png b.png,', 'has "," behind "b.png"'],
    [{ url: 'a' }, 'is not a list of URLs, but {"url":"a"}'],
  ])('refuses %j', (value, problem) => {
    expect(imageList(value)).toBeInstanceOf(CellProblem);
    expect(imageList(value)).toMatchObject({ message: expect.stringContaining(problem) });
  });

  it.each([[['https://x.example/a', 'b']], [['https://x.example/a,', 'b']]])(
    'writes %j so that it is read again',
    (images) => {
      expect(imageList(editFields.images.toCell(images))).toEqual(images);
    },
  );
});
