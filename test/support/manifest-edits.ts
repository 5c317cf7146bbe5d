/** A row of a manifest as a person sees it: what it asks for is its prompt. */
export interface Line {
  readonly id: string;
  readonly prompt: string;
  readonly gallery: string;
  /** Left out, or written out as it would be anyway. */
  readonly resolution?: string | undefined;
  /** @defaultValue the same for all rows */
  readonly image?: string;
}

export type Random = () => number;

type Edit = (lines: Line[], random: Random, fresh: () => Line) => Line[];

/** What people do to a manifest between two starts. */
const edits: Readonly<Record<string, Edit>> = {
  'put a line in front': (lines, _, fresh) => [fresh(), ...lines],
  'put a line in between': (lines, random, fresh) => lines.toSpliced(place(lines, random), 0, fresh()),
  'take a line out': (lines, random) => (lines.length > 1 ? lines.toSpliced(place(lines, random), 1) : lines),
  'sort the lines': (lines) => lines.toSorted((one, other) => (one.prompt < other.prompt ? 1 : -1)),
  'rename a row': (lines, random) => changed(lines, random, ({ id }) => ({ id: `${id}x` })),
  'rename all rows': (lines) => lines.map((line) => ({ ...line, id: `p${line.id}` })),
  'ask for something else': (lines, random) =>
    changed(lines, random, ({ prompt }) => ({ prompt: `${prompt}!` })),
  'ask for what was asked before': (lines, random) =>
    changed(lines, random, ({ prompt }) => ({ prompt: prompt.replace(/!$/, '') })),
  'ask for what was asked before under another id': (lines, random, fresh) => {
    const line = lines[place(lines, random)];
    return line?.prompt.endsWith('!') === true
      ? [...lines, { ...line, id: fresh().id, prompt: line.prompt.slice(0, -1) }]
      : lines;
  },
  'repeat a row under another id': (lines, random, fresh) => [
    ...lines,
    { ...(lines[place(lines, random)] ?? fresh()), id: fresh().id },
  ],
  'exchange what two rows ask for': (lines) => {
    const [first, second, ...rest] = lines;
    if (first === undefined || second === undefined) return lines;
    return [{ ...first, prompt: second.prompt }, { ...second, prompt: first.prompt }, ...rest];
  },
  'write the usual resolution out': (lines) => lines.map((line) => ({ ...line, resolution: '1k' })),
  'leave the resolution out': (lines) => lines.map((line) => ({ ...line, resolution: undefined })),
  'change a column of their own': (lines, random) => changed(lines, random, () => ({ gallery: 'another' })),
};

/** A manifest that a person edits. */
export class EditedManifest {
  private made = 0;
  private written: readonly Line[];

  /** @param isNumbered the ids are the numbers of the lines, as a spreadsheet makes them */
  constructor(
    private readonly random: Random,
    private readonly isNumbered: boolean,
  ) {
    this.written = Array.from({ length: 2 + Math.floor(random() * 4) }, () => this.fresh());
  }

  get lines(): readonly Line[] {
    return this.isNumbered ? this.written.map((line, at) => ({ ...line, id: String(at + 1) })) : this.written;
  }

  /** Makes some edits. Returns their names. */
  edit(count: number): string[] {
    const names = Array.from({ length: count }, () => pick(Object.keys(edits), this.random));
    for (const name of names) {
      const lines = edits[name]?.([...this.written], this.random, () => this.fresh()) ?? [];
      this.written = withOwnIds(lines);
    }
    return names;
  }

  private fresh(): Line {
    this.made += 1;
    return { id: `r${this.made}`, prompt: `prompt ${this.made}`, gallery: 'one' };
  }
}

export function asCsv(lines: readonly Line[]): string {
  const rows = lines.map(
    ({ id, prompt, gallery, resolution = '', image = 'http://example.test/a.png' }) =>
      `${id},image-edit,${image},${prompt},${gallery},${resolution}`,
  );
  return ['id,endpoint,images,prompt,gallery,resolution', ...rows, ''].join('\n');
}

export function pick<T>(all: readonly T[], random: Random): T {
  return all[Math.floor(random() * all.length)] as T;
}

function place(lines: readonly Line[], random: Random): number {
  return Math.floor(random() * lines.length);
}

function changed(lines: Line[], random: Random, change: (line: Line) => Partial<Line>): Line[] {
  const at = place(lines, random);
  return lines.map((line, index) => (index === at ? { ...line, ...change(line) } : line));
}

/** Ids that stand twice are refused, which is no matter here. */
function withOwnIds(lines: readonly Line[]): Line[] {
  const seen = new Set<string>();
  return lines.map((line) => {
    let { id } = line;
    while (seen.has(id)) id += '_';
    seen.add(id);
    return { ...line, id };
  });
}
