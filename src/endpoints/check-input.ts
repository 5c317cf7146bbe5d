import { defer, from, map, of, type Observable } from 'rxjs';
import { describeIssues, type SchemaResult, type StandardSchema } from '../contract/standard-schema.js';
import { InvalidInputError } from '../operators/invalid-input-error.js';

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
