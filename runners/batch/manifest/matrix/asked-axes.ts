import { quoteValue, someOf } from '../quote-value.js';

/** The column that numbers the rows of `--repeat`, from 1. The first one has the id that it would have without `--repeat`. */
export const repeatColumn = 'repeat';

interface Asked {
  readonly each?: Readonly<Record<string, readonly string[]>>;
  readonly repeat?: number;
}

/** The values of an axis that starts of a run asked for. */
export interface AskedAxis {
  readonly name: string;
  /** In the order in which they were first asked for, at most as many as are kept. */
  readonly values: readonly string[];
  /** Set if there are more. */
  readonly isCut?: true;
}

/** How the axes of a start differ from those of earlier starts. */
export interface AxesChange {
  /** The axes of earlier starts. */
  readonly before: readonly string[];
  readonly now: readonly string[];
  /** Axes whose values have changed, and axes that this start lacks. */
  readonly axes: readonly ChangedAxis[];
}

export interface ChangedAxis {
  readonly name: string;
  readonly added: readonly string[];
  readonly gone: readonly string[];
}

/** The journal keeps at most this many values of one axis. */
const mostKept = 1_000;

/** The axes of a start, as the journal records them. */
export function askedAxes({ each = {}, repeat = 1 }: Asked): AskedAxis[] {
  const repeats = Array.from({ length: Math.min(repeat, mostKept + 1) }, (_, index) => String(index + 1));
  return [
    ...Object.entries(each).map(([name, values]) => cut(name, values)),
    ...(repeat > 1 ? [cut(repeatColumn, repeats)] : []),
  ];
}

/** The axes that a run remembers, with those of one more start added. */
export function withAxes(known: readonly AskedAxis[], noted: unknown): readonly AskedAxis[] {
  if (!Array.isArray(noted)) return known;
  const all = new Map(known.map((axis) => [axis.name, axis]));
  for (const { name, values, isCut } of noted as AskedAxis[]) {
    const before = all.get(name);
    const merged = cut(name, [...new Set([...(before?.values ?? []), ...values])]);
    all.set(name, before?.isCut === true || isCut === true ? { ...merged, isCut: true } : merged);
  }
  return [...all.values()];
}

/** How the axes of a start differ from those that the run remembers; `undefined` if they are the same, or if it has none. */
export function axesChange(known: readonly AskedAxis[], settings: Asked): AxesChange | undefined {
  const asked = askedAxes(settings);
  if (asked.length === 0) return undefined;
  const [now, before] = [byName(asked), byName(known)];
  const axes = [...new Set([...now.keys(), ...before.keys()])].flatMap((name): ChangedAxis[] => {
    const [added, gone] = [
      missingIn(before.get(name), now.get(name)),
      missingIn(now.get(name), before.get(name)),
    ];
    return added.length + gone.length === 0 ? [] : [{ name, added, gone }];
  });
  const namesOf = (all: readonly AskedAxis[]): string[] => all.map(({ name }) => name);
  return axes.length === 0 ? undefined : { before: namesOf(known), now: namesOf(asked), axes };
}

/** Adds `repeat` with one row, because the first row of `repeat` is the row without it. */
function byName(axes: readonly AskedAxis[]): ReadonlyMap<string, AskedAxis> {
  const once = { name: repeatColumn, values: ['1'] };
  return new Map([once, ...axes].map((axis) => [axis.name, axis]));
}

const shown = 5;

/** A sentence for each axis that has changed. */
export function axesChangeText({ before, now, axes }: AxesChange): string[] {
  return axes.map(({ name, added, gone }) => {
    const isAxis = (names: readonly string[]): boolean => name === repeatColumn || names.includes(name);
    const what = [
      ...(added.length > 0 ? [`${isAxis(before) ? 'new' : 'a new axis with'} ${listed(added)}`] : []),
      ...(gone.length > 0
        ? [`${isAxis(now) ? '' : 'no axis any more, '}no longer asked for ${listed(gone)}`]
        : []),
    ];
    return `${quoteValue(name).slice(1, -1)}: ${what.join('; ')}`;
  });
}

function listed(values: readonly string[]): string {
  return someOf(values.slice(0, shown).map(quoteValue), values.length);
}

/** The values of `one` that `other` lacks; none if `other` has more than are kept. */
function missingIn(other: AskedAxis | undefined, one: AskedAxis | undefined): string[] {
  if (one === undefined || other?.isCut === true) return [];
  const known = new Set(other?.values.map(plain));
  return one.values.filter((value) => !known.has(plain(value)));
}

/** Composes characters, as in ids. */
function plain(value: string): string {
  return value.normalize('NFC');
}

function cut(name: string, values: readonly string[]): AskedAxis {
  return {
    name,
    values: values.slice(0, mostKept),
    ...(values.length > mostKept && { isCut: true as const }),
  };
}
