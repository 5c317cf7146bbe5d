import {
  basedImage,
  pictureResolutions,
  type ManifestSettings,
  type PriceBook,
  type ResolveImage,
} from '../../batch/formats.js';
import { namedEndpoints } from '../options/configured-endpoints.js';
import type { ManifestSource } from '../options/find-manifest.js';
import type { RunOptions } from '../options/parse-options.js';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { readAxes } from '../../batch/planning.js';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { UsageError } from '../io/usage-error.js';

export function manifestSettings(source: ManifestSource, options: RunOptions): ManifestSettings {
  return {
    name: source.name,
    format: source.format,
    gzip: source.gzip,
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    ...(options.local && { editEndpoint: 'image-edit' }),
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

/**
 * How a plan reads the manifest.
 *
 * @param prices not needed where no row is priced
 */
export async function plannedSettings(
  source: ManifestSource,
  options: RunOptions,
  prices?: PriceBook,
): Promise<ManifestSettings> {
  return {
    ...(prices && pictureResolutions(prices.table().book)),
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

/** Checks that pictures exist. Their URLs are placeholders, because a plan sends nothing. */
async function plannedImages(folder: string): Promise<ResolveImage> {
  const { findLocalPicture } = await import('../../pictures/find-local-picture.js');
  return (path) => {
    const found = findLocalPicture(folder, path);
    return 'problem' in found ? found : `${plannedHost}${encodeURIComponent(path)}`;
  };
}

/** The options with the axes of `--axes FILE` after those of `--each`. Throws `UsageError` if the file cannot be read or used. */
export async function withAxesFile<O extends Pick<RunOptions, 'axes' | 'each'>>(
  options: O,
  cwd: string,
): Promise<O> {
  const { axes: file, each } = options;
  if (file === undefined) return options;
  try {
    const axes = await readAxes(createReadStream(resolve(cwd, file)), file);
    const twice = Object.keys(axes).find((name) => Object.hasOwn(each, name));
    if (twice !== undefined)
      throw new UsageError([`--axes: ${file} has the axis "${twice}", and --each ${twice}=… gives it too`]);
    return { ...options, each: { ...each, ...axes } };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (isMillraceError(error)) throw new UsageError([`--axes: ${error.message}`]);
    throw error;
  }
}
