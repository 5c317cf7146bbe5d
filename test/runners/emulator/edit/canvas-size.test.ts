import { expect, it } from 'vitest';
import { canvasSize, parseRatio } from '../../../../runners/emulator/edit/raster.js';

it.each([
  ['1k', '1:1', 1024, 1024],
  ['1k', '3:2', 1024, 683],
  ['2k', '16:9', 2048, 1152],
  ['4k', '9:16', 2304, 4096],
  ['1k', '4:5', 819, 1024],
  ['1k', '99999:1', 1024, 16],
  ['2k', '1:99999', 16, 2048],
] as const)('%s at %s is %d × %d', (resolution, ratio, width, height) => {
  expect(canvasSize(resolution, parseRatio(ratio))).toEqual({ width, height });
});
