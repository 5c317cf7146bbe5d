/** Keys and indexes from the output of a job down to a value. */
export type ValuePlace = readonly (string | number)[];

/** A path in the output of a job, as in `saveOutput`. */
export interface OutputPath {
  /** As it was written. */
  readonly text: string;
  /** Keys, indexes, and `each` for all elements of a list. */
  readonly steps: readonly (string | number | typeof each)[];
}

const each = Symbol('each');

const step = /\.([^.[\]"'*\s]+)|\[\*?\]|\[(\d{1,9})\]|\["((?:[^"\\]|\\.)*)"\]/y;

/**
 * Parses a path such as `output.video_url`, `output.images[].url` (or `[*]`, for each element), `output.files[0]`,
 * `output["a.b"]`, or `output` itself.
 *
 * @returns the path, or the problem with the text, with a suggestion
 */
export function parseOutputPath(text: string): { path: OutputPath } | { problem: string } {
  const steps = stepsOf(text);
  if (steps !== undefined) return { path: { text, steps } };
  const guess = guessed(text);
  const meant =
    stepsOf(guess) === undefined
      ? 'output.video_url or output.images[].url is one'
      : `did you mean ${guess}?`;
  return { problem: `"${text}" is not a path into a job's output: ${meant}` };
}

function stepsOf(text: string): OutputPath['steps'] | undefined {
  if (!text.startsWith('output')) return undefined;
  const steps: (string | number | typeof each)[] = [];
  for (step.lastIndex = 'output'.length; step.lastIndex < text.length;) {
    const match = step.exec(text);
    if (match === null) return undefined;
    const [, name, index, quoted] = match;
    if (index !== undefined) steps.push(Number(index));
    else if (quoted !== undefined) steps.push(unquoted(quoted));
    else steps.push(name ?? each);
  }
  return steps;
}

/** A text that is not valid as JSON stays as it is. */
function unquoted(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

/** A guess at the path, if it was written in the syntax of other programs. */
function guessed(text: string): string {
  const plain = text
    .trim()
    .replace(/^\$\.?/, '')
    .replace(/[/\\]+/g, '.')
    .replace(/\['([^']*)'\]/g, '["$1"]')
    .replace(/\.\*/g, '[]')
    .replace(/\.+\[/g, '[')
    .replace(/\.{2,}/g, '.')
    .replace(/^\.|\.$/g, '');
  const rooted = plain.replace(/^output(?=$|[.[])/i, 'output');
  return /^output($|[.[])/.test(rooted) ? rooted : `output${rooted.startsWith('[') ? '' : '.'}${rooted}`;
}

export interface ValueAtPath {
  readonly at: ValuePlace;
  /** `undefined` if the output has nothing there. */
  readonly value: unknown;
}

/** The values at a path, one for each element of a list. A list at the end of a path counts as its elements. */
export function valuesAt(output: unknown, { steps }: OutputPath): readonly ValueAtPath[] {
  return steps
    .reduce<readonly ValueAtPath[]>(
      (found, name) => found.flatMap((one) => stepInto(one, name)),
      [{ at: [], value: output }],
    )
    .flatMap((one) => (Array.isArray(one.value) && one.value.length > 0 ? stepInto(one, each) : [one]));
}

function stepInto({ at, value }: ValueAtPath, name: string | number | typeof each): readonly ValueAtPath[] {
  if (name !== each) {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    return [
      { at: [...at, name], value: isThere ? (value as Record<string | number, unknown>)[name] : undefined },
    ];
  }
  if (!Array.isArray(value)) return [{ at, value: undefined }];
  return value.map((one: unknown, index) => ({ at: [...at, index], value: one }));
}

/** The place as a path, such as `output.images[1].url`. */
export function pathOf(at: ValuePlace): string {
  return at.reduce<string>((path, name) => {
    if (typeof name === 'number') return `${path}[${name}]`;
    return /^[^.[\]"'*\s]+$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
  }, 'output');
}

/** The paths of a start: the given ones, or else those that the run remembers. `null` removes them. */
export function pathsInForce(
  { saveOutput: given }: { readonly saveOutput?: readonly string[] | null | undefined },
  { saveOutput: remembered = [] }: { readonly saveOutput?: readonly string[] },
): readonly string[] {
  return given === undefined ? remembered : [...new Set(given ?? [])];
}

/** Parses paths that have been checked before. */
export function outputPaths(texts: readonly string[]): readonly OutputPath[] {
  return texts.flatMap((text) => {
    const parsed = parseOutputPath(text);
    return 'path' in parsed ? [parsed.path] : [];
  });
}
