import { readdirSync, readFileSync } from 'node:fs';
import { format } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';

const folder = new URL('../../samples/recipes/', import.meta.url);
const recipes = readdirSync(folder).filter((name) => name.endsWith('.ts'));
const source = (name: string) => readFileSync(new URL(name, folder), 'utf8');

/** What each recipe says when it runs, from its first line to its last. */
const printed: Record<string, (string | RegExp)[]> = {
  'latest-wins.ts': [
    "{ echo: { text: 'millrace', sleepMs: 20 } }",
    '{"text":"mill","sleepMs":60000} CANCELLED',
    '{"text":"millrace","sleepMs":20} COMPLETED',
  ],
  'debounced-edits.ts': ['a picture for $0.0875', '1 edit bought'],
  'describe-then-edit.ts': [...[/^(lake|fruit|desert).jpg (0.0875|job-failed)$/, /jpg/, /jpg/]],
  'retry-within-budget.ts': [
    ...['1 0.05', '2 0.05', '3 0.05', '4 0.05', '5 over-budget', '6 over-budget'],
    'spent $0.2 of $0.2',
  ],
  'progress.ts': ['0 % ready', '0 % sending', '0 % in the queue', /^\d+ % /, '100 % completed'],
  'chunks.ts': [
    ...['the', 'the latest', 'the latest chunk', 'the latest chunk comes', 'the latest chunk comes last'],
    '5 words, 1 job',
  ],
  'fair-shares.ts': [
    'large large large large small',
    'small held 1 of 4 slots while large had rows waiting, and all 24 ran',
  ],
  'recover-ids.ts': [
    '{"echo":{"n":1,"sleepMs":30}}',
    '{"echo":{"n":2,"sleepMs":30}}',
    '{"echo":{"n":3,"sleepMs":30}}',
    '3 jobs were bought',
  ],
  'trace-jobs.ts': [
    ...['a', 'b'].map(
      (key) =>
        `job echo {"millrace.key":"${key}","millrace.status":"completed","millrace.attempts":1} submitting to settled, in order`,
    ),
    'every request carried its trace',
  ],
  'node-streams.ts': ['20 lines', 'enough'],
};

describe('the recipes', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('are all tested, and named in their README', () => {
    expect(Object.keys(printed).sort()).toStrictEqual(recipes.sort());
    for (const name of recipes) expect(source('README.md')).toContain(`[${name}](${name})`);
  });

  it.each(recipes)('%s is short, complete and without casts', (name) => {
    const text = source(name);
    expect(text.split('\n').length - 1).toBeLessThan(60);
    const code = text.replace(/\/\/.*|'[^']*'|`[^`]*`|import [^;]*;/g, '');
    expect(code).not.toMatch(/\bas (?!const\b)|\bany\b|@ts-|[\w)\]]!/);
  });

  it.each(recipes)('%s does what it says', async (name) => {
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((...words) => {
      lines.push(...format(...words).split('\n'));
    });
    await import(new URL(name, folder).href);
    if (name === 'progress.ts') {
      const [first, last] = [lines.slice(0, 3), lines.at(-1)];
      expect([...first, last]).toStrictEqual([
        '0 % ready',
        '0 % sending',
        '0 % in the queue',
        '100 % completed',
      ]);
      const percents = lines.map((line) => Number.parseInt(line, 10));
      expect(percents).toStrictEqual([...percents].sort((one, other) => one - other));
      expect(lines.some((line) => /^(25|50|75) % working$/.test(line))).toBe(true);
      return;
    }
    expect(lines).toHaveLength(printed[name]!.length);
    printed[name]!.forEach((line, index) =>
      typeof line === 'string' ? expect(lines[index]).toBe(line) : expect(lines[index]).toMatch(line),
    );
    if (name === 'describe-then-edit.ts')
      expect(lines.sort()).toStrictEqual(['desert.jpg 0.0875', 'fruit.jpg job-failed', 'lake.jpg 0.0875']);
  });
});
