import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { EarlierPicture } from '../page-data.js';
import type { PictureShelf } from '../pictures/picture-shelf.js';
import { isObject, type JsonObject } from '../read/read-jsonl.js';

/** A superseded result as the gallery shows it behind the latest; `undefined` when it had no picture. */
export async function earlierPicture(
  result: JsonObject,
  shelf: PictureShelf,
): Promise<EarlierPicture | undefined> {
  const picture = await shelf.result(result['image']);
  if (picture === undefined) return undefined;
  const request = isObject(result['request']) ? result['request'] : {};
  const input = isObject(request['input']) ? request['input'] : {};
  return {
    ...picture,
    ...(typeof input['prompt'] === 'string' ? { prompt: input['prompt'] } : {}),
    ...(typeof input['resolution'] === 'string' ? { resolution: input['resolution'] } : {}),
    ...(typeof result['cost'] === 'number' ? { cost: toMicroDollars(result['cost']) } : {}),
    ...(typeof result['settledAt'] === 'string' ? { settledAt: result['settledAt'] } : {}),
  };
}
