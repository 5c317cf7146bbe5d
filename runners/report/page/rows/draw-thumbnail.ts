import { h, isPictureAddress, setAddress } from '../dom.js';

/**
 * A small picture. A picture inside the page is an `img`, which is printed even where nobody has scrolled. A file is
 * loaded when it is nearly in sight. Only its pixels are kept, and only while it is shown, because a browser keeps
 * the decoded pictures of `img` elements for a long time.
 *
 * @param standIn draws what is shown when the file does not exist or is no picture
 */
export function thumbnail(
  address: string | undefined,
  alt: string,
  standIn?: () => HTMLElement,
): HTMLImageElement | undefined {
  if (!isPictureAddress(address)) return undefined;
  const isEmbedded = address.startsWith('data:');
  // An `img` that is still loading is never painted: it is replaced before.
  const picture = h('img', { alt, decoding: 'async', class: isEmbedded ? undefined : 'loading' });
  if (isEmbedded) setAddress(picture, address);
  else {
    picture.dataset['file'] = address;
    nearby.observe(picture);
    picture.addEventListener('load', () => void showPixels(picture, alt), { once: true });
    picture.addEventListener('error', () => picture.classList.remove('loading'), { once: true });
  }
  if (standIn !== undefined)
    picture.addEventListener('error', () => picture.replaceWith(standIn()), { once: true });
  return picture;
}

/** @param asImage keeps the `img`: a printer needs no pixels before its page is drawn, and a canvas would hold those of all pages at once */
export function loadThumbnail(picture: HTMLImageElement, { asImage = false } = {}): void {
  if (asImage) printed.add(picture);
  const { file } = picture.dataset;
  nearby.unobserve(picture);
  delete picture.dataset['file'];
  if (file !== undefined) setAddress(picture, file);
}

const printed = new WeakSet<HTMLImageElement>();

/** Unlike the browser's lazy loading, it asks for a picture once, after the frames around it were painted. */
const nearby = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) loadThumbnail(target as HTMLImageElement);
  },
  { rootMargin: '400px' },
);

/** In pixels. Without thumbnails pictures are shown themselves, and each of their pixels takes 4 bytes. */
const mostWidth = 768;

async function showPixels(picture: HTMLImageElement, alt: string): Promise<void> {
  if (printed.has(picture)) return picture.classList.remove('loading');
  const resize =
    picture.naturalWidth > mostWidth && ({ resizeWidth: mostWidth, resizeQuality: 'medium' } as const);
  const pixels = await createImageBitmap(picture, { ...resize }).catch(() => undefined);
  const canvas = h('canvas', alt === '' ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': alt });
  const context = canvas.getContext('bitmaprenderer');
  if (pixels === undefined || context === null) return picture.classList.remove('loading');
  [canvas.width, canvas.height] = [pixels.width, pixels.height];
  context.transferFromImageBitmap(pixels);
  picture.replaceWith(canvas);
  picture.removeAttribute('src');
}
