import type { PictureHost } from '../../runners/batch/uploads/picture-host.js';
import { localPicture } from '../../runners/batch/uploads/create-picture-host.js';
import type { ManifestSettings } from '../../runners/batch/manifest/manifest-settings.js';
import { basedImage } from '../../runners/batch/manifest/rows/row-images.js';
import { pick, type Random } from '../support/manifest-edits.js';

/** Where a manifest says that its pictures lie: the beginning of each entry of `images`, and `--images-base`. */
interface Place {
  readonly before: string;
  readonly base: string | undefined;
}

const places: readonly Place[] = [
  { before: 'pics/', base: 'https://pics.test/' },
  // The same pictures, written in two other ways.
  { before: '', base: 'https://pics.test/pics/' },
  { before: 'https://pics.test/pics/', base: undefined },
  { before: 'moved/', base: 'https://pics.test/' },
  { before: 'pics/', base: 'https://cdn.test/' },
];
const anyPicture = 'http://example.test/a.png';

/** The pictures that a person's rows name: by one URL, by paths below `--images-base`, or by paths that are uploaded. */
export class PersonsPictures {
  private readonly areLocal: boolean;
  private place = places[0] as Place;
  private areUploaded = false;
  private readonly versions = new Map<string, number>();

  constructor(private readonly random: Random) {
    this.areLocal = random() < 0.4;
    this.areUploaded = this.areLocal && random() < 0.5;
  }

  /** Moves the pictures, replaces one under its name, or has them uploaded from now on. Returns what was done. */
  edit(): string[] {
    const { random } = this;
    if (!this.areLocal || random() > 0.4) return [];
    const what = random();
    if (what < 0.4) {
      const path = `${pick(['pics/', 'moved/', ''], random)}p${Math.floor(random() * 2)}.png`;
      this.versions.set(path, this.version(path) + 1);
      return [`replaced the picture ${path}`];
    }
    if (what < 0.9) this.place = pick(places, random);
    else this.areUploaded = !this.areUploaded;
    const how = this.areUploaded ? '--upload' : `--images-base ${this.place.base}`;
    return [`pictures are at ${this.place.before} with ${how}`];
  }

  /** What a row of this prompt has under `images`. */
  imageOf(prompt: string): string {
    if (!this.areLocal) return anyPicture;
    return `${this.place.before}p${Number(/\d+/.exec(prompt)?.[0] ?? 0) % 2}.png`;
  }

  /** The options of a start. */
  get settings(): Pick<ManifestSettings, 'resolveImage'> | undefined {
    if (!this.areLocal) return undefined;
    const { base = 'https://pics.test/' } = this.place;
    return { resolveImage: this.areUploaded ? localPicture : basedImage(base) };
  }

  get host(): (() => Promise<PictureHost>) | undefined {
    if (!this.areLocal || !this.areUploaded) return undefined;
    return () =>
      Promise.resolve({
        put: (path) => Promise.resolve(`s3://shop/${flat(path)}~v${this.version(path)}.png`),
        addressOf: (name) =>
          Promise.resolve(`${name.replace('s3://', 'https://store.test/')}?X-Amz-Signature=a1`),
        close: () => Promise.resolve(),
      });
  }

  /** What a row asks for, by its prompt and an entry of `images`, as the service names it but for the version of an uploaded picture. */
  requestOf(prompt: string, image: string): string {
    if (image === anyPicture) return prompt;
    if (/^(https?|s3):/.test(image)) return withoutVersion(requestName(prompt, image));
    if (this.areUploaded) return requestName(prompt, `s3://shop/${flat(image)}.png`);
    return requestName(prompt, `${this.place.base ?? 'https://pics.test/'}${image}`);
  }

  private version(path: string): number {
    return this.versions.get(path) ?? 1;
  }
}

/** The name of a request, from its prompt and the picture that is sent, or that stands in a result. */
export function requestName(prompt: string, image: string): string {
  if (image === anyPicture) return prompt;
  const [, store = '', path = ''] =
    /^(?:https?:\/\/(?:pics\.test\/|(store\.test\/shop\/|cdn\.test\/))|(?:s3:\/\/shop\/))([^?#]*)/.exec(
      image,
    ) ?? [];
  const from = image.startsWith('s3:') || store.startsWith('store') ? 'up_' : store === '' ? '' : 'cdn_';
  return `${prompt}@${from}${flat(path)}`;
}

export function withoutVersion(request: string): string {
  return request.replace(/~v\d+/, '');
}

/** A path as a part of a name. */
function flat(path: string): string {
  return decodeURIComponent(path)
    .replace(/\.png$/, '')
    .replaceAll('/', '_');
}
