import { catchError, defer, from, map, type Observable, of } from 'rxjs';
import type { Completed, Failed, Outcome } from '../contract/outcome.js';
import { describeIssues, type SchemaResult, type StandardSchema } from '../contract/standard-schema.js';
import { InvalidInputError } from '../operators/job-error.js';

/** The input as its schema gives it. Errors with `InvalidInputError`. Synchronous where the schema is. */
export function checkInput(schema: StandardSchema, input: unknown): Observable<unknown> {
  return validate(schema, input).pipe(
    map((result) => {
      if (result.issues !== undefined) throw new InvalidInputError(describeIssues(result.issues));
      return result.value;
    }),
  );
}

export function validate<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Observable<SchemaResult<Output>> {
  return defer(() => {
    const result = schema['~standard'].validate(value);
    return 'then' in result ? from(result) : of(result);
  });
}

/**
 * The outcome with its output as the schema gives it. An output that is not of the schema is `output-mismatch`: it is
 * paid, and it is kept. So is one over which the schema itself throws.
 */
export function checkOutput<O>(
  schema: StandardSchema<unknown, O>,
  outcome: Outcome<unknown>,
): Observable<Outcome<O>> {
  if (outcome.status === 'failed') return of(outcome);
  return validate(schema, outcome.output).pipe(
    map((result): Outcome<O> => {
      if (result.issues !== undefined) return mismatch(outcome, describeIssues(result.issues));
      return { ...outcome, output: result.value };
    }),
    catchError((error: unknown) =>
      of(mismatch(outcome, error instanceof Error ? error.message : String(error))),
    ),
  );
}

function mismatch(
  { jobId, output, delayTimeMs, executionTimeMs }: Completed<unknown>,
  problem: string,
): Failed {
  return {
    status: 'failed',
    code: 'output-mismatch',
    paid: 'yes',
    jobId,
    message: `${jobId === '' ? 'the output' : `the output of job ${jobId}`} is not of its schema: ${problem}`,
    output,
    ...(delayTimeMs !== undefined && { delayTimeMs }),
    ...(executionTimeMs !== undefined && { executionTimeMs }),
  };
}
