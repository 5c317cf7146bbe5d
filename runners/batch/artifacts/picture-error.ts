import { MillraceError } from '../../../src/contract/millrace-error.js';

/** A picture that is paid for could not be saved, and the disk is not to blame: the row fails as `download`. */
export class PictureError extends MillraceError {
  static override readonly name: string = 'PictureError';
  /** Of the reply that brought no picture. */
  readonly httpStatus: number | undefined;
  /** The bytes are no picture at all. */
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
}
