/** Width and height in pixels. */
export interface Size {
  width: number;
  height: number;
}

/** The longer edge of a result in pixels. */
export const longEdge = { '1k': 1_024, '2k': 2_048, '4k': 4_096 } as const;

const shortestEdge = 16;

/** The size of a result at a resolution and a ratio of width to height. */
export function canvasSize(resolution: keyof typeof longEdge, ratio: number): Size {
  const long = longEdge[resolution];
  const short = Math.max(shortestEdge, Math.round(ratio >= 1 ? long / ratio : long * ratio));
  return ratio >= 1 ? { width: long, height: short } : { width: short, height: long };
}

/** `16:9` → 1.777… */
export function parseRatio(text: string): number {
  const [width = Number.NaN, height = Number.NaN] = text.split(':').map(Number);
  return width / height;
}
