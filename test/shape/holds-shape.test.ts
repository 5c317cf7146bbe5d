import { expect, it } from 'vitest';
import { measureShape } from './shape-of.js';

it('keeps the chains of imports short, the folders small and the names single', () => {
  const { files, depth, largestFolder, small, oneImporter, twice } = measureShape(
    ['src', 'runners'],
    'runners/cli/main.ts',
  );
  expect(twice).toEqual([]);
  expect(depth.runTime.length, depth.runTime.join('\n')).toBeLessThanOrEqual(16);
  expect(depth.withTypes.length, depth.withTypes.join('\n')).toBeLessThanOrEqual(24);
  expect(largestFolder.files, `files in ${largestFolder.path}`).toBeLessThanOrEqual(15);
  expect(small.length / files).toBeLessThanOrEqual(0.12);
  expect(oneImporter.length / files).toBeLessThanOrEqual(0.33);
});
