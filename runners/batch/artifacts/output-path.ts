/** Keys and indexes from the output of a job down to a value. */
export type ValuePlace = readonly (string | number)[];

/** A path into the output of a job, as `saveOutput` has it. */
export interface OutputPath {
  /** As it was written. */
  readonly text: string;
  /** Keys, indexes, and `each` for all elements of a list. */
  readonly steps: readonly (string | number | typeof each)[];
}

const each = Symbol('each');

const step = /\.([^.[\]"'*\s]+)|\[\*?\]|\[(\d{1,9})\]|\["((?:[^"\\]|\\.)*)"\]/y;

/**
 * `output.video_url`, `output.images[].url` (or `[*]`, for each element), `output.files[0]`, `output["a.b"]`, or `output` itself.
 *
 * @returns the path, or what is wrong with the text, with a guess of what was meant
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

/** What JSON cannot read stands as it is. */
function unquoted(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

/** As other programs write such a path, in our words. */
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

/** What lies at a path. */
export interface ValueAtPath {
  readonly at: ValuePlace;
  /** `undefined`: the output has nothing there. */
  readonly value: unknown;
}

/** The values at a path, one for each element of a list. A list at its end counts as its elements. */
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

/** The place as a path: `output.images[1].url`. */
export function pathOf(at: ValuePlace): string {
  return at.reduce<string>((path, name) => {
    if (typeof name === 'number') return `${path}[${name}]`;
    return /^[^.[\]"'*\s]+$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
  }, 'output');
}

/** The paths that hold for a start: what it says, else what the run remembers. `null`: none any more. */
export function pathsInForce(
  { saveOutput: given }: { readonly saveOutput?: readonly string[] | null | undefined },
  { saveOutput: remembered = [] }: { readonly saveOutput?: readonly string[] },
): readonly string[] {
  return given === undefined ? remembered : [...new Set(given ?? [])];
}

/** Paths that have been checked before. */
export function outputPaths(texts: readonly string[]): readonly OutputPath[] {
  return texts.flatMap((text) => {
    const parsed = parseOutputPath(text);
    return 'path' in parsed ? [parsed.path] : [];
  });
}
