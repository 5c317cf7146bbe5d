/** How an execution came to its end. */
export type JobEnd =
  | { status: 'COMPLETED'; output: unknown }
  | { status: 'FAILED'; error: string; httpStatus?: number }
  | { status: 'CANCELLED' | 'TIMED_OUT'; error?: string };

/** The reason with which a running function is stopped. */
export class JobStop extends Error {
  readonly end: JobEnd;

  constructor(end: JobEnd) {
    super(end.status === 'TIMED_OUT' ? 'the job timed out' : 'the job was cancelled');
    this.name = 'JobStop';
    this.end = end;
  }
}
