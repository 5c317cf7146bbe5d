import type { Projections } from '../sinks/projections.js';

/** Whether a picture of an earlier start should lie in the folder. */
export async function hasSavedPictures(projections: Pick<Projections, 'pictures'>): Promise<boolean> {
  for await (const { path } of projections.pictures()) if (path !== undefined) return true;
  return false;
}
