import { h, setAddress } from '../dom.js';

/** The file itself, and its thumbnail where the page has been moved away from it. */
export function largePicture(
  path: string | undefined,
  thumb: string | undefined,
  alt: string,
): HTMLImageElement {
  const picture = h('img', { alt, decoding: 'async', draggable: 'false' });
  picture.addEventListener('error', () => setAddress(picture, thumb), { once: true });
  if (!setAddress(picture, path)) setAddress(picture, thumb);
  return picture;
}

const kept = 5;

/** Pictures that are decoded before they are asked for; the oldest give their memory back. */
export class DecodedPictures {
  readonly #pictures = new Map<string, HTMLImageElement>();

  take(path: string | undefined, thumb: string | undefined, alt: string): HTMLImageElement {
    const key = path ?? thumb ?? '';
    const known = this.#pictures.get(key);
    const picture = known?.isConnected === false ? known : largePicture(path, thumb, alt);
    picture.alt = alt;
    this.#pictures.delete(key);
    if (key !== '') this.#pictures.set(key, picture);
    return picture;
  }

  /** A small one to choose it by. */
  small(thumb: string, alt: string): HTMLImageElement {
    return largePicture(thumb, undefined, alt);
  }

  async prepare(path: string | undefined, thumb: string | undefined): Promise<void> {
    const key = path ?? thumb ?? '';
    if (key === '' || this.#pictures.get(key)?.isConnected === true) return;
    await this.take(path, thumb, '')
      .decode()
      .catch(() => undefined);
    this.#forgetOldest();
  }

  #forgetOldest(): void {
    for (const [key, picture] of this.#pictures) {
      if (this.#pictures.size <= kept) return;
      if (picture.isConnected) continue;
      picture.removeAttribute('src');
      this.#pictures.delete(key);
    }
  }
}
