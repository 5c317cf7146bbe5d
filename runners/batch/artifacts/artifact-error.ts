import { MillraceError } from '../../../src/contract/millrace-error.js';

/** A paid picture, or another file, could not be saved, and the disk is not the cause: the row fails as `download`. */
export class ArtifactError extends MillraceError {
  static override readonly name: string = 'ArtifactError';
  /** The HTTP status of the failed reply. */
  readonly httpStatus: number | undefined;
  /** The bytes are not a picture, or not a file of a known format. */
  readonly isNoPicture: boolean;
  /** Another try may help. */
  readonly mayPass: boolean;

  constructor(
    message: string,
    facts: { httpStatus?: number | undefined; isNoPicture?: boolean; mayPass?: boolean } = {},
  ) {
    super('picture', message);
    this.httpStatus = facts.httpStatus;
    this.isNoPicture = facts.isNoPicture ?? false;
    this.mayPass = facts.mayPass ?? false;
  }

  reworded(message: string): ArtifactError {
    return new ArtifactError(message, this);
  }
}
