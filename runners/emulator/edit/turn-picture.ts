import type { SharpModule } from './load-sharp.js';
import type { PromptEdit } from './prompt-edit.js';
import { type Raster, fromRaster, toRaster } from './raster.js';

/** Rotates, flips and mirrors a reference picture as the prompt says, in its order. */
export async function turnPicture(
  sharp: SharpModule,
  picture: Raster,
  edits: readonly PromptEdit[],
): Promise<Raster> {
  let turned = picture;
  for (const { name, amount = 0 } of edits) {
    if (name === 'rotate')
      turned = await toRaster(fromRaster(sharp, turned).rotate(amount % 360, { background: '#ffffff' }));
    else if (name === 'flip') turned = await toRaster(fromRaster(sharp, turned).flip());
    else if (name === 'mirror') turned = await toRaster(fromRaster(sharp, turned).flop());
  }
  return turned;
}
