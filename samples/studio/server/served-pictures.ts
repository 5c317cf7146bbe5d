import { randomUUID } from 'node:crypto';
import { limits } from '../messages.js';
import type { PictureType } from '../uploaded-type.js';

export interface Picture {
  readonly type: PictureType;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Pictures that jobs under way refer to, in memory; the service fetches them under names that cannot be guessed. */
export class PictureShelf {
  /** Where the service finds this server. */
  origin = '';
  readonly #pictures = new Map<string, Picture>();
  #bytes = 0;

  /** @returns its name, or `undefined` when the shelf is full */
  put(picture: Picture): string | undefined {
    if (this.#bytes + picture.bytes.length > limits.shelfBytes) return undefined;
    const name = randomUUID();
    this.#bytes += picture.bytes.length;
    this.#pictures.set(name, picture);
    return name;
  }

  find(name: string): Picture | undefined {
    return this.#pictures.get(name);
  }

  urlOf(name: string): string {
    return `${this.origin}/pictures/${name}`;
  }

  remove(name: string): void {
    this.#bytes -= this.#pictures.get(name)?.bytes.length ?? 0;
    this.#pictures.delete(name);
  }
}
