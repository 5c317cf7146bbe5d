import { h, setAddress } from '../dom.js';

/**
 * A small picture. What stands in the page itself is an image, and is printed also where nobody has scrolled to it. Of a file
 * only the pixels are kept, and only as long as it is shown: a browser keeps the decoded pictures of images for a long time.
 *
 * @param missing What stands in its place where the file is not there.
 */
export function thumbnail(
  address: string | undefined,
  alt: string,
  missing?: string,
): HTMLImageElement | undefined {
  const isEmbedded = address?.startsWith('data:') === true;
  const picture = h('img', { alt, loading: isEmbedded ? 'eager' : 'lazy', decoding: 'async' });
  if (!setAddress(picture, address)) return undefined;
  if (!isEmbedded) {
    // Never painted: it is replaced before.
    picture.className = 'loading';
    picture.addEventListener('load', () => void showPixels(picture, alt), { once: true });
    picture.addEventListener('error', () => picture.classList.remove('loading'), { once: true });
  }
  if (missing !== undefined)
    picture.addEventListener('error', () => picture.replaceWith(h('span', { class: 'words' }, missing)), {
      once: true,
    });
  return picture;
}

async function showPixels(picture: HTMLImageElement, alt: string): Promise<void> {
  const pixels = await createImageBitmap(picture).catch(() => undefined);
  const canvas = h('canvas', alt === '' ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': alt });
  const context = canvas.getContext('bitmaprenderer');
  if (pixels === undefined || context === null) return picture.classList.remove('loading');
  [canvas.width, canvas.height] = [pixels.width, pixels.height];
  context.transferFromImageBitmap(pixels);
  picture.replaceWith(canvas);
  picture.removeAttribute('src');
}
