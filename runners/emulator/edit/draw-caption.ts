import type { Size } from './canvas-size.js';

/** A dark band along the lower edge with the text in it, as a layer over a canvas. */
export function drawCaption(
  text: string,
  { width, height }: Size,
): { input: Buffer; left: number; top: number } {
  const band = Math.round(Math.min(height / 3, Math.max(width, height) / 11));
  const size = Math.min(band * 0.5, (width * 0.92) / Math.max(1, text.length * 0.56));
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${band}"><rect width="100%" height="100%" fill="#111" fill-opacity="0.62"/><text x="50%" y="${band / 2 + size * 0.35}" font-family="sans-serif" font-size="${size}" fill="#fff" text-anchor="middle">${escaped(text)}</text></svg>`;
  return { input: Buffer.from(svg), left: 0, top: height - band };
}

function escaped(text: string): string {
  return text
    .replace(/[\u0000-\u001f]/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;');
}
