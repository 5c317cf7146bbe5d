import { describe, expect, it } from 'vitest';
import { PictureNames } from '../../../../runners/batch/pictures/picture-names.js';

function collisions(ids: readonly string[]): string[] {
  const names = new PictureNames();
  for (const id of ids) names.see(id);
  return ids.filter((id) => names.collides(id));
}

describe('PictureNames', () => {
  it('nothing collides where ids differ in more than case', () => {
    expect(collisions(['a', 'b', 'IMG_1', 'img_2', 'ä', 'Ä'].slice(0, 4))).toEqual([]);
  });

  it.each([
    [['mug', 'Mug', 'MUG']],
    [['Mug', 'mug', 'MUG']],
    [['MUG', 'Mug', 'mug']],
    [['A', 'a']],
    [['s', 'S']],
  ])('of %j one keeps its plain name, in whatever order they come', (ids) => {
    const first = ids.find((id) => id !== id.toLowerCase());
    expect(collisions(ids)).toEqual(ids.filter((id) => id !== first));
  });
});
