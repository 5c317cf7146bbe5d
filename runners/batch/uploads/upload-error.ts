import { MillraceError } from '../../../src/contract/millrace-error.js';

/**
 * Why a picture could not be uploaded. `picture`: it is none, or cannot be read; other rows may have more luck. `refused`:
 * the store does not let us. `unreachable`: the store does not answer. Nothing of the row was sent.
 */
export class UploadError extends MillraceError {
  static override readonly name: string = 'UploadError';

  constructor(
    readonly why: 'picture' | 'refused' | 'unreachable',
    message: string,
    cause?: unknown,
  ) {
    super('upload', message, cause === undefined ? {} : { cause });
  }
}
