import { join } from 'node:path';
import { createKeepAliveAgents } from '../../../src/transport/keep-alive-agents.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import type { ResolveImage } from '../../batch/manifest/manifest-settings.js';
import { localPicture } from '../../batch/uploads/local-picture.js';
import type { PictureHost } from '../../batch/uploads/picture-host.js';
import { findLocalPicture } from '../../pictures/find-local-picture.js';
import type { CliIo } from '../io/cli-io.js';
import type { RunOptions } from '../options/run-options.js';

/** Checks a picture beside the manifest before anything is sent; it is uploaded when its row is. */
export function uploadedImages(folder: string): ResolveImage {
  return (path) => {
    const found = findLocalPicture(folder, path);
    return 'problem' in found ? found : localPicture(path);
  };
}

/** What of a run says where its pictures are, and where they go. */
interface Uploading {
  readonly options: Pick<RunOptions, 'upload' | 'uploadEndpoint'>;
  readonly source: { readonly folder: string };
  readonly io: Pick<CliIo, 'env'>;
}

/** The bucket of `--upload`, with the notes in the run's folder. */
export async function openUploads({ options, source, io }: Uploading, out: string): Promise<PictureHost> {
  const [{ openS3Store }, { createPictureHost }, { UploadNotes }] = await Promise.all([
    import('../../batch/uploads/open-s3-store.js'),
    import('../../batch/uploads/create-picture-host.js'),
    import('../../batch/uploads/upload-notes.js'),
  ]);
  const { upload: target = { bucket: '', prefix: '' }, uploadEndpoint: endpoint } = options;
  const { http: httpAgent, https: httpsAgent } = createKeepAliveAgents({ env: io.env });
  const agents = { httpAgent, httpsAgent };
  const store = await openS3Store({ bucket: target.bucket, endpoint, env: io.env, agents });
  const notes = await UploadNotes.open(nodeDisk, join(out, 'uploads.jsonl'));
  return createPictureHost({ ...target, store, notes, folder: source.folder });
}
