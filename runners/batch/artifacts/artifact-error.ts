import { MillraceError } from '../../../src/contract/millrace-error.js';

/** A picture, or another file, that is paid for could not be saved, and the disk is not to blame: the row fails as `download`. */
export class ArtifactError extends MillraceError {
  static override readonly name: string = 'ArtifactError';
  /** Of the reply that did not bring it. */
  readonly httpStatus: number | undefined;
  /** The bytes are not a picture, or not a file of a known format. */
  readonly isNoPicture: boolean;
  /** Trying again may help. */
  readonly mayPass: boolean;

  constructor(
    message: string,
    facts: { httpStatus?: number; isNoPicture?: boolean; mayPass?: boolean } = {},
  ) {
    super('picture', message);
    this.httpStatus = facts.httpStatus;
    this.isNoPicture = facts.isNoPicture ?? false;
    this.mayPass = facts.mayPass ?? false;
  }

  /** The same in other words. */
  reworded(message: string): ArtifactError {
    const { httpStatus, isNoPicture, mayPass } = this;
    return new ArtifactError(message, {
      isNoPicture,
      mayPass,
      ...(httpStatus !== undefined && { httpStatus }),
    });
  }
}
