import { basedImage, type ManifestSettings, type ResolveImage } from '../../batch/formats.js';
import { namedEndpoints } from '../options/configured-endpoints.js';
import type { ManifestSource } from '../options/find-manifest.js';
import type { RunOptions } from '../options/start-options.js';

/** The settings by which the manifest is read, from the options. */
export function manifestSettings(source: ManifestSource, options: RunOptions): ManifestSettings {
  return {
    name: source.name,
    format: source.format,
    gzip: source.gzip,
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    endpoints: namedEndpoints(options.endpoints),
    ...(options.kind !== undefined && { kind: options.kind }),
    ...(options.mode !== undefined && { mode: options.mode }),
    set: options.set,
    map: options.map,
    each: options.each,
    ...(options.repeat !== undefined && { repeat: options.repeat }),
    ignore: options.ignore,
    ...(options.imagesBase !== undefined && { resolveImage: basedImage(options.imagesBase) }),
    ...(options.delimiter !== undefined && { delimiter: options.delimiter }),
  };
}

/** The settings by which a plan reads the manifest. */
export async function plannedSettings(
  source: ManifestSource,
  options: RunOptions,
): Promise<ManifestSettings> {
  return {
    ...manifestSettings(source, options),
    ...((options.local || options.upload !== undefined) && {
      resolveImage: await plannedImages(source.folder),
    }),
  };
}

const plannedHost = 'http://127.0.0.1/';

/** Whether a URL stands for a picture beside the manifest. */
export function isPlannedImage(url: string): boolean {
  return url.startsWith(plannedHost);
}

/** Checks that pictures exist. The URLs are placeholders: a plan sends nothing. */
async function plannedImages(folder: string): Promise<ResolveImage> {
  const { findLocalPicture } = await import('../../pictures/find-local-picture.js');
  return (path) => {
    const found = findLocalPicture(folder, path);
    return 'problem' in found ? found : `${plannedHost}${encodeURIComponent(path)}`;
  };
}
