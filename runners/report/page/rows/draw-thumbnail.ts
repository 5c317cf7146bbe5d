import { h, isPictureAddress, setAddress } from '../dom.js';

/**
 * A small picture. What stands in the page itself is an image, and is printed also where nobody has scrolled to it. A file is
 * loaded once it is near to what is in sight. Of it only the pixels are kept, and only as long as it is shown: a browser keeps
 * the decoded pictures of images for a long time.
 *
 * @param missing What stands in its place where the file is not there.
 */
export function thumbnail(
  address: string | undefined,
  alt: string,
  missing?: string,
): HTMLImageElement | undefined {
  if (!isPictureAddress(address)) return undefined;
  const isEmbedded = address.startsWith('data:');
  // One that is loading is never painted: it is replaced before.
  const picture = h('img', { alt, decoding: 'async', class: isEmbedded ? undefined : 'loading' });
  if (isEmbedded) setAddress(picture, address);
  else {
    picture.dataset['file'] = address;
    nearby.observe(picture);
    picture.addEventListener('load', () => void showPixels(picture, alt), { once: true });
    picture.addEventListener('error', () => picture.classList.remove('loading'), { once: true });
  }
  if (missing !== undefined)
    picture.addEventListener('error', () => picture.replaceWith(h('span', { class: 'words' }, missing)), {
      once: true,
    });
  return picture;
}

/** Loads a thumbnail's file, wherever it stands. */
export function loadThumbnail(picture: HTMLImageElement): void {
  const { file } = picture.dataset;
  nearby.unobserve(picture);
  delete picture.dataset['file'];
  if (file !== undefined) setAddress(picture, file);
}

/** Unlike the browser's own lazy loading it asks for a picture once, after the frames around it have been painted. */
const nearby = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) loadThumbnail(target as HTMLImageElement);
  },
  { rootMargin: '400px' },
);

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
