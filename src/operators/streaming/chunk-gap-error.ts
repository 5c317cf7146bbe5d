import { MillraceError } from '../../contract/millrace-error.js';

/**
 * A reply with chunks was lost on the way, and the job's output does not hold them: chunks may be missing between the
 * first `received` ones and those after them. The service hands each chunk out once. Code `chunk-gap`.
 */
export class ChunkGapError extends MillraceError {
  static override readonly name: string = 'ChunkGapError';

  constructor(
    readonly jobId: string,
    /** Chunks that came before the gap: those are complete. */
    readonly received: number,
  ) {
    super(
      'chunk-gap',
      `job ${jobId}: a reply with chunks was lost after the first ${received}, and the output does not hold them`,
    );
  }
}
