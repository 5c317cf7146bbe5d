import { imageEditPrices } from 'millrace';
import { limits } from '../messages.js';
import { pictureType } from '../uploaded-type.js';
import type { Resolution } from './card-state.js';
import type { Picture } from './served-pictures.js';

/** One picture to be edited. `card` is the page's own name for it. */
export interface Order {
  readonly card: string;
  readonly prompt: string;
  readonly resolution: Resolution;
  readonly picture: Picture;
}

/** A form as an order, or what is wrong with it, in words. */
export async function readOrder(form: FormData): Promise<Order | string> {
  const [card, prompt, resolution, file] = ['card', 'prompt', 'resolution', 'picture'].map((name) =>
    form.get(name),
  );
  if (typeof card !== 'string' || !/^[\da-f-]{36}$/.test(card)) return 'The order has no name.';
  if (typeof prompt !== 'string' || prompt.trim() === '') return 'Say what should become of the picture.';
  if (prompt.length > limits.promptLetters) return `A prompt has ${limits.promptLetters} letters at most.`;
  if (!isResolution(resolution)) return 'There is no such resolution.';
  if (!(file instanceof File)) return 'There is no picture.';
  if (file.size > limits.pictureBytes) return 'The picture is too large.';
  const bytes = new Uint8Array(await file.arrayBuffer());
  const type = pictureType(bytes);
  if (type === undefined) return 'This is not a picture: PNG, JPEG, WebP and GIF can be edited.';
  return { card, prompt, resolution, picture: { type, bytes } };
}

function isResolution(value: unknown): value is Resolution {
  return typeof value === 'string' && Object.hasOwn(imageEditPrices, value);
}
