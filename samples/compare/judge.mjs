import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';

/** What a contender bought by the service's own bill, what it has of it, and what it knows. Money in USD. */
export async function judge({ ids, out, bill }) {
  const executions = new Map(ids.map((id) => [id, []]));
  for (const line of bill) executions.get(/\((edit-\d+)\)/.exec(line.input.prompt)[1]).push(line);
  const bought = sum([...executions.values()].flat().map(({ executions: count }) => count));
  const twice = [...executions.values()].flatMap((lines) => lines.slice(1));
  const pictures = await picturesIn(out);
  const books = await booksIn(out);
  return {
    rows: ids.length,
    bought,
    billUsd: usd(bill),
    pictures: ids.filter((id) => pictures.has(id)).length,
    paidTwice: twice.length,
    paidTwiceUsd: usd(twice),
    named: books.unknown.length,
    /** Paid for, and neither a whole picture nor a word of it in any file. */
    lost: ids.filter(
      (id) => executions.get(id).length > 0 && !pictures.has(id) && !books.unknown.includes(id),
    ).length,
    /** No outcome at all, paid for or not. */
    withoutOutcome: ids.filter((id) => !pictures.has(id) && !books.unknown.includes(id)).length,
    knownUsd: books.known,
    heldUsd: books.held,
  };
}

/** Ids with a whole JPEG: a process that is killed while it writes leaves half of one, or an empty file. */
async function picturesIn(out) {
  const names = await readdir(out, { recursive: true });
  const whole = new Set();
  for (const name of names.filter((one) => /edit-\d+\.jpg$|edit-\d+\.jpeg$/.test(one))) {
    const bytes = await readFile(join(out, name));
    const text = bytes.toString('latin1');
    if (text.startsWith('\xff\xd8') && text.endsWith('\xff\xd9'))
      whole.add(/(edit-\d+)\.jpe?g$/.exec(name)[1]);
  }
  return whole;
}

/** millrace writes costs.csv and failures.jsonl; the scripts a line with the price of each row they have. */
async function booksIn(out) {
  const costs = await readFile(join(out, 'costs.csv'), 'utf8').catch(() => undefined);
  if (costs === undefined) {
    const done = await readFile(join(out, 'done.csv'), 'utf8').catch(() => '');
    return {
      known: sum(done.split('\n').map((line) => Number(line.split(',')[1] ?? 0))),
      held: 0,
      unknown: [],
    };
  }
  const lines = parse(costs, { columns: true });
  const of = (source) => sum(lines.filter((line) => line.source === source).map(({ cost }) => Number(cost)));
  const failures = (await readFile(join(out, 'failures.jsonl'), 'utf8')).trim().split('\n').filter(Boolean);
  const unknown = failures.map((line) => JSON.parse(line)).filter(({ error }) => error.code === 'unknown');
  return { known: of('reported'), held: of('unknown'), unknown: unknown.map(({ id }) => id) };
}

function usd(lines) {
  return sum(lines.map(({ costMicroDollars }) => costMicroDollars)) / 1e6;
}

function sum(numbers) {
  return Math.round(numbers.reduce((total, number) => total + number, 0) * 1e6) / 1e6;
}
