import { payerOf } from './value-caps.js';

/** What a row of a simulated manifest does at the service. */
export interface SimulatedRow {
  readonly id: string;
  readonly kind: 'edit' | 'job' | 'route';
  /** How the service ends it. `read`: a GET, which buys nothing. */
  readonly end: 'completed' | 'failed' | 'rejected' | 'no-route' | 'read';
  /** In millionths of a dollar; 0 where nothing was bought. */
  readonly cost: number;
  /** The answer carries the picture itself. */
  readonly base64: boolean;
  /** Whether the service tells the price. */
  readonly reportsCost: boolean;
}

export const prices = { edit: 87_500, job: 20_000, route: 1_000 } as const;

const kinds: readonly SimulatedRow['kind'][] = ['edit', 'edit', 'job', 'edit', 'job', 'route', 'edit', 'job'];

/** The rows of a manifest behind the first `after`: all kinds, about one in eight failing. */
export function makeRows(count: number, random: () => number, after = 0): SimulatedRow[] {
  return Array.from({ length: count }, (_, place) => {
    const index = after + place;
    const kind = kinds[index % kinds.length] ?? 'job';
    const id = `${kind}-${index + 1}`;
    const end = endOf(kind, random);
    const isBought = end === 'completed';
    return {
      id,
      kind,
      end,
      base64: kind === 'edit' && random() < 0.3,
      cost: isBought ? prices[kind] : 0,
      reportsCost: kind === 'edit' || random() < 0.7,
    };
  });
}

function endOf(kind: SimulatedRow['kind'], random: () => number): SimulatedRow['end'] {
  const chance = random();
  if (kind === 'edit') return chance < 0.06 ? 'rejected' : chance < 0.12 ? 'failed' : 'completed';
  if (kind === 'job') return chance < 0.12 ? 'failed' : 'completed';
  if (chance < 0.1) return 'no-route';
  return chance < 0.2 ? 'failed' : chance < 0.4 ? 'read' : 'completed';
}

/** What the service is sent for a row: a job's input, or a route's body. */
export function requestOf({ id, kind, base64 }: SimulatedRow): unknown {
  if (kind !== 'edit') return { row: id };
  const input = { images: [picture], prompt: id };
  return base64 ? { ...input, enable_base64_output: true } : input;
}

const picture = 'http://pictures.test/a.png';
const columns = ['id', 'kind', 'endpoint', 'images', 'prompt', 'enable_base64_output', 'input.row'] as const;

/** The manifest's text. `wide` adds a column of 8 kB: about eight rows are then read at a time. */
export function manifestText(rows: readonly SimulatedRow[], format: 'csv' | 'jsonl', wide = false): string {
  const more: Record<string, string> = wide ? { wide: 'x'.repeat(8_000) } : {};
  const cells = rows.map((row): Record<string, string | boolean> => {
    const customer = payerOf(row.id);
    return { ...cellsOf(row), ...(customer !== '' && { customer }), ...more };
  });
  if (format === 'jsonl') return cells.map((row) => `${JSON.stringify(row)}\n`).join('');
  const names = [...columns, 'route', 'method', 'body.row', 'note', 'customer', ...Object.keys(more)];
  const lines = cells.map((row) => names.map((name) => row[name] ?? '').join(','));
  return [names.join(','), ...lines, ''].join('\n');
}

function cellsOf({ id, kind, end, base64 }: SimulatedRow): Record<string, string | boolean> {
  if (kind === 'job') return { id, kind, endpoint: 'grind', 'input.row': id, note: 'mine' };
  if (kind === 'route' && end === 'read') return { id, kind, route: `/read/${id}`, method: 'GET' };
  if (kind === 'route') return { id, kind, route: `/job/${id}`, 'body.row': id };
  const edit = { id, kind, endpoint: 'image-edit', images: picture, prompt: id };
  return base64 ? { ...edit, enable_base64_output: true } : edit;
}
