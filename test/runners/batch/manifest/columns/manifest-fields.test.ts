import { parse } from 'csv-parse/sync';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  editFieldNames,
  fieldNames,
  imageList,
  imagesCell,
  sentFields,
  type EditFieldName,
} from '../../../../../runners/batch/manifest/columns/manifest-fields.js';
import type { Row } from '../../../../../runners/batch/manifest/manifest-row.js';
import { planManifest, type Plan } from '../../../../../runners/batch/manifest/plan-manifest.js';
import type { PageRow } from '../../../../../runners/report/page-data.js';
import { redoManifest } from '../../../../../runners/report/page/review/redo-manifest.js';
import { rowOfFailure, rowOfResult } from '../../../../../runners/report/rows/row-of-line.js';
import { cellText, csvOf, editSamples } from '../../../../support/edit-samples.js';
import { jsonLines, readItems, readRows, type TestSettings } from '../../../../support/manifest-items.js';
import { paperRun, type PaperRun } from '../../../../support/paper-run.js';

const { images, prompt } = editSamples;

/** An edit with one field more, or with the field as one of those that it needs. */
function editWith(name: EditFieldName): Record<string, unknown> {
  return { id: 'a', endpoint: 'image-edit', images, prompt, [name]: editSamples[name] };
}

function without(name: string, row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([key]) => key !== name));
}

async function onlyRow(text: string, settings: TestSettings = {}): Promise<Row> {
  const rows = await readRows(text, settings);
  expect(rows).toHaveLength(1);
  return rows[0] as Row;
}

function planOf(text: string): Promise<Plan> {
  const items = async function* () {
    yield* await readItems(text);
  };
  return planManifest(items(), { priceOf: () => null });
}

/** Why a manifest or its row is refused. */
async function complaint(text: string): Promise<string> {
  try {
    return (await readItems(text))
      .map(({ valid, row }) => (valid ? '' : JSON.stringify(row.problems)))
      .join();
  } catch (error) {
    return (error as Error).message;
  }
}

/** Two rows of one request that go through a run, of which the service completes one and rejects the other. */
async function ran(name: EditFieldName): Promise<{ run: PaperRun; inputs: unknown[] }> {
  const run = paperRun();
  const inputs: unknown[] = [];
  const { transport } = run.service;
  run.service.behave = (_, nth) => (nth === 1 ? 'complete' : 'reject');
  run.manifest(csvOf(editWith(name), { ...editWith(name), id: 'b' }));
  await run.start({
    concurrency: 1,
    transport: (request) => {
      if (request.method === 'POST')
        inputs.push((JSON.parse(request.body ?? '') as { input: unknown }).input);
      return transport(request);
    },
  });
  return { run, inputs };
}

function redo(row: Omit<PageRow, 'references'>, format: 'csv' | 'jsonl'): string {
  const rejection = { row: row.row, of: '', failed: false, cost: 0 };
  return redoManifest([{ row: { ...row, references: [] }, review: rejection }], format);
}

describe.each(editFieldNames)('the column %s', (name) => {
  const value = editSamples[name];
  const input = without('id', without('endpoint', editWith(name)));

  it('is the same in a CSV, in JSON, by --set, by --map and below input', async () => {
    const row = editWith(name);
    const rest = without(name, row);
    const rows = [
      await onlyRow(csvOf(row)),
      await onlyRow(jsonLines(row), { format: 'jsonl' }),
      await onlyRow(jsonLines({ ...row, [name]: cellText(value) }), { format: 'jsonl' }),
      await onlyRow(csvOf(rest), { set: { [name]: cellText(value) } }),
      await onlyRow(csvOf({ ...rest, other: value }), { map: { [name]: 'other' } }),
      await onlyRow(jsonLines({ ...rest, kind: 'edit', [`input.${name}`]: value }), { format: 'jsonl' }),
    ];
    for (const { request, hash } of rows) {
      expect(request).toEqual({ kind: 'edit', input });
      expect(hash).toBe(rows[0]?.hash);
    }
  });

  it('is refused where it is misspelt, with the name that is meant', async () => {
    const rest = without(name, editWith(name));
    for (const misspelt of [name.toUpperCase(), `${name[0]?.toUpperCase()}${name.slice(1)}`])
      expect(await complaint(csvOf({ ...rest, [misspelt]: value }))).toMatch(
        new RegExp(`${misspelt}.*is not sent, .*"${name}"|${name}.*is missing; .*${misspelt}`),
      );
  });

  it('is listed by the plan as sent, and by the README', async () => {
    const { columnsSent, columnsNotSent, invalid } = await planOf(csvOf(editWith(name)));
    expect({ invalid, columnsNotSent }).toEqual({ invalid: 0, columnsNotSent: [] });
    expect(columnsSent).toContain(name);
    const readme = readFileSync('README.md', 'utf8');
    expect(readme.includes(`\`${name}\``), `README.md names ${name}`).toBe(true);
  });

  it('reaches the service, the results, and from results and failures a manifest again', async () => {
    const { run, inputs } = await ran(name);
    expect(inputs).toEqual([input, input]);

    const [result] = run.lines('results.jsonl');
    expect(result).toMatchObject({ id: 'a', request: { input } });
    const [sheet] = parse<Record<string, string>>(run.text('results.csv'), { columns: true });
    expect(sheet?.[name]).toBe(cellText(value));

    const [failure] = run.lines('failures.jsonl');
    const again = [
      await onlyRow(run.text('failures.jsonl'), { format: 'jsonl' }),
      await onlyRow(run.text('failures.csv')),
      await onlyRow(redo(rowOfFailure(failure ?? {}), 'csv')),
      await onlyRow(redo(rowOfResult(result ?? {}, false), 'csv')),
      await onlyRow(redo(rowOfResult(result ?? {}, false), 'jsonl'), { format: 'jsonl' }),
    ];
    for (const { request } of again) expect(request).toEqual({ kind: 'edit', input });
    expect(again.map(({ id }) => id)).toEqual(['b', 'b', 'b', 'a', 'a']);
  });
});

it('every field of the contract has its place in the order of the files', () => {
  expect(fieldNames).toEqual([
    ...['id', 'kind', 'endpoint', 'priority'],
    ...editFieldNames,
    ...['input', 'route', 'method', 'body', 'jobId', 'error', 'millrace'],
  ]);
  expect(sentFields).toEqual({
    edit: [...editFieldNames, 'input'],
    job: ['input'],
    route: ['route', 'method', 'body'],
    collect: [],
  });
});

const withLetters = editFieldNames.filter((name) => /[a-z]/.test(cellText(editSamples[name])));

it.each(withLetters)(
  '%s in capitals is another value of an axis where the service gets another',
  async (name) => {
    const values = [cellText(editSamples[name]), cellText(editSamples[name]).toUpperCase()];
    const sent: readonly unknown[] = await Promise.all(
      values.map(async (text) => {
        const [item] = await readItems(csvOf({ ...editWith(name), [name]: text }));
        const input = item?.valid === true && 'input' in item.row.request ? item.row.request.input : {};
        return JSON.stringify(input[name]);
      }),
    );
    const isOther = !sent.includes(undefined) && sent[0] !== sent[1];
    const items = readItems(csvOf(without(name, editWith(name))), { each: { [name]: values } });
    await (isOther ? expect(items).resolves.toHaveLength(2) : expect(items).rejects.toThrow('the same'));
  },
);

it.each([
  [['https://a.example/1.png', 'b.png'], 'https://a.example/1.png b.png'],
  [['my cat'], '["my cat"]'],
  [['a|b.png'], '["a|b.png"]'],
  [['[1].png', 'c.png'], '["[1].png","c.png"]'],
  [['https://a.example/1.png,', 'b.png'], '["https://a.example/1.png,","b.png"]'],
])('writes pictures %j as a cell that is read as these', (given, cell) => {
  expect(imagesCell(given)).toBe(cell);
  expect(imageList(cell)).toEqual(given);
});
