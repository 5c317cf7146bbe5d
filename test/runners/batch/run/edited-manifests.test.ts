import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { runBatch, type StopOrder } from '../../../../runners/batch/run-batch.js';
import { edit } from '../../../support/manifest-rows.js';
import { paperRun, type PaperEnd, type PaperRun } from '../../../support/paper-run.js';
import { seeded } from '../../../support/seeded.js';

/** A row of the manifest as a person sees it: what it asks for is its prompt. */
interface Line {
  readonly id: string;
  readonly prompt: string;
  readonly gallery: string;
  /** Left out, or written out as it would be anyway. */
  readonly resolution?: string | undefined;
}

type Random = () => number;

/** What people do to a manifest between two starts. */
const changes: Readonly<Record<string, (lines: Line[], random: Random, fresh: () => Line) => Line[]>> = {
  nothing: (lines) => lines,
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

function place(lines: readonly Line[], random: Random): number {
  return Math.floor(random() * lines.length);
}

function changed(lines: Line[], random: Random, change: (line: Line) => Partial<Line>): Line[] {
  const at = place(lines, random);
  return lines.map((line, index) => (index === at ? { ...line, ...change(line) } : line));
}

/** Starts a run again and again, with changes in between. Returns what went wrong. */
async function played(seed: number): Promise<string[]> {
  const random = seeded(seed);
  const run = paperRun();
  /** The ids are the numbers of the lines, as a spreadsheet makes them. */
  const isNumbered = random() < 0.4;
  let made = 0;
  const fresh = (): Line => ({ id: `r${++made}`, prompt: `prompt ${made}`, gallery: 'one' });
  let lines: Line[] = Array.from({ length: 2 + Math.floor(random() * 4) }, fresh);
  const story: string[] = [];
  const asked = new Map<string, number>();
  const completed = new Set<unknown>();
  for (let start = 0; start < 4; start++) {
    const names =
      start === 0
        ? []
        : Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
            pick(Object.keys(changes) as [string, ...string[]], random),
          );
    for (const name of names) lines = distinct(changes[name]?.(lines, random, fresh) ?? lines);
    const shown = isNumbered ? lines.map((line, at) => ({ ...line, id: String(at + 1) })) : lines;
    for (const [prompt, count] of countsOf(lines.map((line) => line.prompt)))
      asked.set(prompt, Math.max(count, asked.get(prompt) ?? 0));
    run.manifest(random() < 0.5 ? shown.map(({ id, ...more }) => edit(id, more)) : csvOf(shown));
    run.service.behave = () => pick(['complete', 'complete', 'complete', 'fail', 'lose-answer'], random);
    const end = await started(run, random);
    story.push(`${names.join(', ')}: exit ${end.exitCode}`);
    const broken = [
      ...boughtTooOften(run, asked),
      ...(end.exitCode === 0 ? othersAnswers(run, end, shown) : []),
      ...lostResults(run, completed),
    ];
    if (broken.length > 0) return [...story, ...broken];
  }
  return [];
}

/** A row that has completed has a result from then on, also while it is bought again. */
function lostResults(run: PaperRun, completed: Set<unknown>): string[] {
  const there = run.lines('results.jsonl').map(({ id }) => id);
  const lost = [...completed].filter((id) => !there.includes(id));
  for (const id of there) completed.add(id);
  const twice = there.length - new Set(there).size;
  return [
    ...lost.map((id) => `the result of "${String(id)}" is gone`),
    ...(twice > 0 ? [`${twice} rows have two results`] : []),
  ];
}

/** A start, which may be cut short, by somebody who agrees to buy nothing again. */
async function started(run: PaperRun, random: Random): Promise<PaperEnd> {
  const stop = new Subject<StopOrder>();
  const order = pick([undefined, undefined, 'graceful', 'now'] as const, random);
  const options = run.options({
    mode: pick(['sync', 'async'], random),
    concurrency: pick([1, 3], random),
    stop,
    ...(random() < 0.2 && { limit: 1 }),
    ...(random() < 0.3 && { retry: ['failed'] }),
    ...(random() < 0.3 && { changed: 'redo' }),
    confirm: (_, ahead) => Promise.resolve(ahead.bought === undefined),
  });
  return run.follow(runBatch(options), (event) => {
    const isOnItsWay = event.type === 'row' && event.event.type === pick(['submitting', 'accepted'], random);
    if (order !== undefined && isOnItsWay) stop.next(order);
  });
}

function pick<T>(all: readonly [T, ...T[]], random: Random): T {
  return all[Math.floor(random() * all.length)] ?? all[0];
}

/** Ids that stand twice are refused, which is no matter here. */
function distinct(lines: readonly Line[]): Line[] {
  const seen = new Set<string>();
  return lines.map((line) => {
    let { id } = line;
    while (seen.has(id)) id += '_';
    seen.add(id);
    return { ...line, id };
  });
}

function csvOf(lines: readonly Line[]): string {
  const rows = lines.map(
    ({ id, prompt, gallery, resolution = '' }) =>
      `${id},image-edit,http://example.test/a.png,${prompt},${gallery},${resolution}`,
  );
  return ['id,endpoint,images,prompt,gallery,resolution', ...rows, ''].join('\n');
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Nobody has agreed to buy again what the run had bought: a request is paid as often as one manifest asked for it. */
function boughtTooOften({ service }: PaperRun, asked: ReadonlyMap<string, number>): string[] {
  return [...service.bill]
    .map(([prompt, paid]) => [prompt, paid / 87_500] as const)
    .filter(([prompt, count]) => count > (asked.get(prompt) ?? 0))
    .map(
      ([prompt, count]) =>
        `"${prompt}" was bought ${count} times, and asked for ${asked.get(prompt) ?? 0} times`,
    );
}

/** A row that has ended holds the answer to what it asks for now, or is named as changed. */
function othersAnswers(run: PaperRun, { events }: PaperEnd, lines: readonly Line[]): string[] {
  const ahead = events.flatMap((event) => (event.type === 'checked' ? [event.ahead] : []))[0];
  const promptOf = new Map(
    run
      .lines('results.jsonl')
      .map(({ id, request }) => [id, (request as { input: { prompt: string } }).input.prompt]),
  );
  const wrong = lines.filter(({ id, prompt }) => promptOf.has(id) && promptOf.get(id) !== prompt);
  // A row that only writes its request in another way is said to have changed as well.
  return wrong.length <= (ahead?.changed.count ?? 0)
    ? []
    : [`${wrong.length} rows hold another answer, and ${ahead?.changed.count} are said to have changed`];
}

describe('a manifest that is edited between the starts of a run', () => {
  const count = 150;

  it(`has nothing bought twice without a question, and no row another one's answer, ${count} times`, async () => {
    const broken: Record<string, string[]> = {};
    for (let seed = 1; seed <= count; seed++) {
      const problems = await played(seed);
      if (problems.length > 0) broken[`seed ${seed}`] = problems;
    }
    expect(broken).toEqual({});
  }, 120_000);
});
