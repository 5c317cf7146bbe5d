/**
 * The interface that millrace needs of a schema: Standard Schema, version 1, which zod, valibot, arktype and others implement.
 * `Input` is the type that `validate` accepts, `Output` the type that it returns.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    /** Returns the parsed value, or its issues. Never throws for a wrong value. */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Carries the types; absent at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type SchemaInput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input'];
export type SchemaOutput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output'];

/** One line for people: `images.0: is not an http or https URL; prompt: is empty`. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  return issues
    .map(({ path = [], message }) => `${path.map(keyOf).join('.')}${path.length > 0 ? ': ' : ''}${message}`)
    .join('; ');
}

function keyOf(segment: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof segment === 'object' ? segment.key : segment);
}
