/** Columns that millrace understands; every other one is the user's own. */
export const fieldNames = [
  'id',
  'kind',
  'endpoint',
  'images',
  'prompt',
  'resolution',
  'aspect_ratio',
  'output_format',
  'enable_base64_output',
  'input',
  'route',
  'method',
  'body',
  'jobId',
  'error',
  'millrace',
] as const;

export type FieldName = (typeof fieldNames)[number];

/** Input of an edit, column by column. (spec 2.5) */
export const editFields = [
  'images',
  'prompt',
  'resolution',
  'aspect_ratio',
  'output_format',
  'enable_base64_output',
] as const satisfies readonly FieldName[];

export type EditField = (typeof editFields)[number];

const known: ReadonlySet<string> = new Set(fieldNames);

export function isFieldName(name: string): name is FieldName {
  return known.has(name);
}
