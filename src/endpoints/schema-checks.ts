import { catchError, defer, from, map, type Observable, of, throwError } from 'rxjs';
import { errorText } from '../contract/millrace-error.js';
import type { Completed, Failed, Outcome } from '../contract/outcome.js';
import { describeIssues, type SchemaResult, type StandardSchema } from '../contract/standard-schema.js';
import { InvalidInputError } from '../operators/job-error.js';

/**
 * Reads the input now, so that later changes to it have no effect, and returns its request. If the input does not match its
 * schema, or the schema throws, the request errors with `InvalidInputError`.
 */
export function readInput<R>(
  schema: StandardSchema | undefined,
  input: unknown,
  make: (checked: unknown) => R,
): R | Observable<R> {
  try {
    if (schema === undefined) return make(input);
    const result = schema['~standard'].validate(input);
    const checked = (valid: SchemaResult<unknown>) => {
      if (valid.issues !== undefined) throw new InvalidInputError(describeIssues(valid.issues));
      return make(valid.value);
    };
    if (!('then' in result)) return checked(result);
    const later = result.then(checked);
    // Each subscriber receives the error.
    later.catch(() => undefined);
    return from(later).pipe(catchError((error: unknown) => throwError(() => asInvalidInput(error))));
  } catch (error) {
    return throwError(() => asInvalidInput(error));
  }
}

function asInvalidInput(error: unknown): InvalidInputError {
  if (error instanceof InvalidInputError) return error;
  return new InvalidInputError(`its schema throws: ${String(error)}`, { cause: error });
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
 * The outcome with its output as the schema returns it. If the output does not match the schema, or the schema throws, the
 * outcome is `output-mismatch`, which is paid and keeps the output.
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
    catchError((error: unknown) => of(mismatch(outcome, errorText(error)))),
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
