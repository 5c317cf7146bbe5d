import { h, setAddress } from '../dom.js';

/** The file itself, and its thumbnail when the page was moved away from the file. */
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

/** Pictures that are decoded in advance; the oldest are released. */
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

const step = 1.5;
const most = 8;

/** Zoom and position: shared by the compared pictures, and kept from row to row. */
export class Zoom {
  readonly #place: HTMLElement;
  readonly #onChange: (words: string) => void;
  /** 1: the whole picture fits. */
  #scale = 1;
  /** The centre of the visible part, as fractions of the picture's box. */
  #x = 0.5;
  #y = 0.5;

  constructor(place: HTMLElement, onChange: (words: string) => void) {
    [this.#place, this.#onChange] = [place, onChange];
    place.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    place.addEventListener('pointerdown', (event) => this.#drag(event));
    place.addEventListener('dblclick', (event) => this.toggle(...this.#at(event)));
  }

  get isClose(): boolean {
    return this.#scale > 1;
  }

  /** Switches between one picture pixel per screen pixel and the whole picture. */
  toggle(x = this.#x, y = this.#y): void {
    this.#set(this.isClose ? 1 : this.#oneToOne(), x, y);
  }

  closer(by: 1 | -1): void {
    this.#set(this.#scale * step ** by, this.#x, this.#y);
  }

  /** Moves by fractions of the visible part. */
  pan(x: number, y: number): void {
    this.#set(this.#scale, this.#x + x / this.#scale, this.#y + y / this.#scale);
  }

  /** Applies zoom and position to a picture that has just loaded. */
  apply(): void {
    this.#set(this.#scale, this.#x, this.#y);
  }

  #oneToOne(): number {
    // All pictures have boxes of the same size while zoomed in.
    this.#place.classList.add('close');
    const picture = this.#place.querySelector<HTMLImageElement>('.now img');
    if (picture === null || picture.naturalWidth === 0) return 2;
    const { width, height } = picture.getBoundingClientRect();
    const fit = Math.min(width / picture.naturalWidth, height / picture.naturalHeight) / this.#scale;
    return Math.max(1.01, 1 / (fit * devicePixelRatio));
  }

  #set(scale: number, x: number, y: number): void {
    this.#scale = Math.max(1, Math.min(scale, most * 4));
    const half = 0.5 / this.#scale;
    this.#x = Math.max(half, Math.min(x, 1 - half));
    this.#y = Math.max(half, Math.min(y, 1 - half));
    const { style } = this.#place;
    style.setProperty('--zoom', String(this.#scale));
    style.setProperty('--x', `${(0.5 - this.#x) * 100 * this.#scale}%`);
    style.setProperty('--y', `${(0.5 - this.#y) * 100 * this.#scale}%`);
    this.#place.classList.toggle('close', this.isClose);
    this.#onChange(this.isClose ? 'Fit' : '1:1');
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault();
    const [x, y] = this.#at(event);
    const scale = Math.max(1, this.#scale * Math.exp(-event.deltaY / 400));
    // The point under the pointer stays there.
    const keep = 1 - this.#scale / scale;
    this.#set(scale, this.#x + (x - this.#x) * keep, this.#y + (y - this.#y) * keep);
  }

  #drag(event: PointerEvent): void {
    if (!this.isClose || event.button !== 0 || (event.target as Element).closest('button, input, a') !== null)
      return;
    const box = this.#boxAt(event);
    let [x, y] = [event.clientX, event.clientY];
    const move = (moved: PointerEvent): void => {
      this.pan((x - moved.clientX) / box.width, (y - moved.clientY) / box.height);
      [x, y] = [moved.clientX, moved.clientY];
    };
    const end = (): void => this.#place.removeEventListener('pointermove', move);
    this.#place.setPointerCapture(event.pointerId);
    this.#place.addEventListener('pointermove', move);
    for (const name of ['pointerup', 'pointercancel'])
      this.#place.addEventListener(name, end, { once: true });
  }

  #boxAt(event: MouseEvent): DOMRect {
    const pane =
      (event.target as Element).closest('.pane') ?? this.#place.querySelector('.pane') ?? this.#place;
    return pane.getBoundingClientRect();
  }

  /** The pointer's position in the picture, as fractions of its box. */
  #at(event: MouseEvent): [number, number] {
    const { left, top, width, height } = this.#boxAt(event);
    const seen = 1 / this.#scale;
    return [
      this.#x - seen / 2 + ((event.clientX - left) / width) * seen,
      this.#y - seen / 2 + ((event.clientY - top) / height) * seen,
    ];
  }
}
