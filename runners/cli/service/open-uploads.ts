import { join } from 'node:path';
import { errorText } from '../../../src/contract/millrace-error.js';
import { createKeepAliveAgents } from '../../../src/transport/connections/keep-alive-agents.js';
import { nodeDisk, type PictureHost, type ResolveImage } from '../../batch/formats.js';
import { createPictureHost, localPicture, openS3Store, UploadNotes } from '../../batch/internal.js';
import { findLocalPicture } from '../../pictures/find-local-picture.js';
import type { CliIo } from '../io/cli-io.js';
import type { RunOptions } from '../options/parse-options.js';

/** Checks a picture beside the manifest before anything is sent. It is uploaded when its row is sent. */
export function uploadedImages(folder: string): ResolveImage {
  return (path) => {
    const found = findLocalPicture(folder, path);
    return 'problem' in found ? found : localPicture(path);
  };
}

interface Uploading {
  readonly options: Pick<RunOptions, 'upload' | 'uploadEndpoint'>;
  readonly source: { readonly folder: string };
  readonly io: Pick<CliIo, 'env'>;
}

/** Opens the bucket of `--upload`, with the notes in the run's folder. */
export async function openUploads({ options, source, io }: Uploading, out: string): Promise<PictureHost> {
  const { target, store } = await openStore(options, io);
  const notes = await UploadNotes.open(nodeDisk, join(out, 'uploads.jsonl'));
  return createPictureHost({ ...target, store, notes, folder: source.folder });
}

/** Tests whether the bucket of `--upload` can be used. Resolves to the problem, or `undefined`. */
export async function checkStore(
  options: Uploading['options'],
  io: Uploading['io'],
): Promise<string | undefined> {
  const { target, store } = await openStore(options, io);
  const key = [target.prefix, 'millrace-check'].filter((part) => part !== '').join('/');
  return store.has(key).then(() => undefined, errorText);
}

async function openStore({ upload, uploadEndpoint: endpoint }: Uploading['options'], io: Uploading['io']) {
  const target = upload ?? { bucket: '', prefix: '' };
  const agents = createKeepAliveAgents({ env: io.env });
  return { target, store: await openS3Store({ bucket: target.bucket, endpoint, env: io.env, agents }) };
}
