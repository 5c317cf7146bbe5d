import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { Disk } from '../../batch/disk/disk.js';
import { readCsv } from '../read/read-csv.js';

/** A charge of a billing export for one job; several lines of one job are one charge. */
export interface Charge {
  readonly jobId: string;
  /** Line numbers in the export, from 1; the header counts. */
  readonly lines: readonly number[];
  readonly amount: MicroDollars;
  /** The time of its first line that has one, ms since the epoch. */
  readonly at?: number;
  /** How far the real time may be from `at`, in ms: a time without a zone may be in any zone. @defaultValue 0 */
  readonly slackMs?: number;
}

/**
 * Reads a billing export.
 *
 * @throws {MillraceError} `statement` if it is empty, a line has no amount in USD or one with two meanings, or most are below zero, `statement-columns`
 *   if a column is missing
 */
export async function readCharges(
  disk: Disk,
  path: string,
  given: StatementColumns,
): Promise<Map<string, Charge>> {
  const charges = new Map<string, Charge & { readonly lines: number[] }>();
  const amounts = new AmountColumn();
  let columns: FoundColumns | undefined;
  const refuse = (line: number): never => {
    throw new MillraceError('statement', `${path}, line ${line}: a quote is opened that nothing closes`);
  };
  for await (const { line, cells } of readCsv(disk, path, refuse)) {
    columns ??= statementColumns(path, Object.keys(cells), given);
    const amount = amounts.read(cells[columns.amount] ?? '');
    if (amount === undefined) throw noAmount(path, line, columns.amount, cells[columns.amount] ?? '');
    const currency = (cells[columns.currency ?? ''] ?? '').trim();
    if (!/^(?:|usd|us\$|\$)$/i.test(currency))
      throw refused(path, line, columns.currency ?? '', currency, notDollars);
    const jobId = (cells[columns.job] ?? '').trim();
    // Lines without a job are a charge each: routes have none.
    const key = jobId === '' ? `\n${line}` : jobId;
    if (amount === 'ambiguous') amounts.putOff(key, line, cells[columns.amount] ?? '');
    const before = charges.get(key);
    const time = before?.at === undefined ? timeOf(cells[columns.time ?? ''] ?? '') : before;
    const lines = before?.lines ?? [];
    lines.push(line);
    charges.set(key, {
      jobId,
      lines,
      amount: (before?.amount ?? 0) + (amount === 'ambiguous' ? 0 : amount),
      ...(time?.at !== undefined && { at: time.at }),
      ...((time?.slackMs ?? 0) > 0 && { slackMs: time?.slackMs ?? 0 }),
    });
  }
  if (columns === undefined) throw new MillraceError('statement', `${path} holds no charges`);
  for (const { key, line, cell } of amounts.deferred) {
    const charge = charges.get(key);
    const amount = amounts.decide(cell);
    if (amount === undefined) throw refused(path, line, columns.amount, cell, ambiguous);
    if (charge !== undefined) charges.set(key, { ...charge, amount: charge.amount + amount });
  }
  const ofJobs = [...charges.values()].filter(({ jobId }) => jobId !== '');
  if (ofJobs.filter(({ amount }) => amount < 0).length > ofJobs.filter(({ amount }) => amount > 0).length)
    // Charges that are not recognised would make paid rows look as if they were never sent.
    throw new MillraceError(
      'statement',
      `${path}, column "${columns.amount}": most amounts are below zero, as in a list of refunds, or of movements of a balance: charges are expected above zero`,
    );
  return charges;
}

function noAmount(path: string, line: number, column: string, cell: string): MillraceError {
  const why = foreign.test(cell) ? notDollars : 'is not an amount';
  return cell.trim() === ''
    ? new MillraceError('statement', `${path}, line ${line}, column "${column}": the amount is empty`)
    : refused(path, line, column, cell, why);
}

function refused(path: string, line: number, column: string, cell: string, why: string): MillraceError {
  const place = `${path}, line ${line}, column "${column}"`;
  return new MillraceError('statement', `${place}: "${cell.slice(0, 60)}" ${why}`);
}

/** `1,750` is 1750 in one export, and 1.75 in another one. */
const ambiguous =
  'may be two amounts, because no other amount shows whether its sign separates decimals or thousands: export the amounts without thousands separators, and with decimal points';

/** Euros that are read as dollars would settle rows at a wrong price. */
const notDollars = "is not in US dollars, and a run's costs are: export the statement in USD";

/** A currency beside the digits: `1.50 EUR`, `€ 1.50`, `CHF1`; not the exponent of `1e-3`. */
const foreign = /(?!\$)\p{Sc}|^\s*[a-z]{3}\s*[-(\d]|\d\)?\s*[a-z]{3}\s*$/iu;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Zones differ from UTC by at most 14 hours. */
const zoneSlackMs = 14 * hourMs;
const daySlackMs = dayMs + zoneSlackMs;

type TimeOfCharge = Required<Pick<Charge, 'at' | 'slackMs'>>;

/** Also reads seconds or milliseconds since the epoch. A time without a zone, and a day, may be far from the real time. */
function timeOf(cell: string): TimeOfCharge | undefined {
  const text = cell.trim();
  if (/^\d{10}(?:\.\d+)?$/.test(text)) return exactTime(Number(text) * 1000);
  if (/^\d{13}$/.test(text)) return exactTime(Number(text));
  const readings = readingsOf(text).filter((at) => !Number.isNaN(at));
  const at = Math.min(...readings);
  if (at === Infinity) return undefined;
  const apart = Math.max(...readings) - at;
  // Midnight counts as a day, because an export by days may write it.
  if (!/\d:\d/.test(text) || /(?<![\d:])0?0:00(?::00)?(?![:\d]|\.\d*[1-9])/.test(text))
    return { at, slackMs: apart + daySlackMs };
  return apart === 0 && /:.*(?:z|utc|gmt|[+-]\d\d:?\d\d)$/i.test(text)
    ? { at, slackMs: 0 }
    : { at, slackMs: apart + zoneSlackMs };
}

function exactTime(at: number): TimeOfCharge {
  return { at, slackMs: at % dayMs === 0 ? daySlackMs : 0 };
}

/** `5/11/2026` may be in May or in November. */
function readingsOf(text: string): number[] {
  const swapped = text.replace(/^(\d{1,2})([./-])(\d{1,2})(?=\2\d{4}(?!\d))/, '$3$2$1');
  return [text, swapped].map((one) => Date.parse(one.replace(/^(\d{1,2})[.-](\d{1,2})[.-]/, '$1/$2/')));
}

/** The columns of a billing export. For a name that is not given, usual names are tried. */
export interface StatementColumns {
  /** The id of the job or request. */
  readonly job?: string;
  /** What was charged, in USD. */
  readonly amount?: string;
  /** The time. Without it, charges of other times cannot be distinguished from those of the run. */
  readonly time?: string;
}

const usual = {
  job: ['jobid', 'requestid', 'id', 'job', 'request', 'reference'],
  amount: ['cost', 'amount', 'charge', 'charged', 'total', 'price', 'usd', 'costusd', 'amountusd'],
  time: [
    'time',
    'timestamp',
    'date',
    'datetime',
    'createdat',
    'settledat',
    'completedat',
    'startedat',
    'usagetime',
  ],
  currency: ['currency', 'currencycode'],
} as const;

interface FoundColumns {
  readonly job: string;
  readonly amount: string;
  readonly time: string | undefined;
  readonly currency: string | undefined;
}

/**
 * @param path the export's path, for messages
 * @param present the names in the export's first line
 * @throws {MillraceError} `statement-columns` if a column is missing; the message names the existing ones
 */
function statementColumns(path: string, present: readonly string[], given: StatementColumns): FoundColumns {
  const find = (meaning: keyof typeof usual): string | undefined => {
    const name = meaning === 'currency' ? undefined : given[meaning];
    if (name === undefined)
      return usual[meaning].flatMap(
        (one) => present.find((column) => plain(column) === one || withoutUnit(column) === one) ?? [],
      )[0];
    const found =
      present.find((column) => column === name) ?? present.find((column) => plain(column) === plain(name));
    if (found === undefined)
      throw new MillraceError(
        'statement-columns',
        `${path}, line 1: there is no column "${name}"; there are ${listOf(present)}`,
      );
    return found;
  };
  const need = (meaning: 'job' | 'amount', what: string): string => {
    const found = find(meaning);
    if (found !== undefined) return found;
    throw new MillraceError(
      'statement-columns',
      `${path}, line 1: no column is known to hold ${what}; say which of ${listOf(present)} does`,
    );
  };
  return {
    job: need('job', 'the job id'),
    amount: need('amount', 'the amount'),
    time: find('time'),
    currency: find('currency'),
  };
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

/** `Charge (USD)`, `Time (UTC)`. */
function withoutUnit(name: string): string {
  return plain(name.replace(/\s*[([](?:usd|us\$|\$|utc|gmt)[)\]]\s*$/i, ''));
}

function listOf(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

type DecimalSign = '.' | ',';

/** The amounts of a column. Those with two meanings are put off until the other ones have shown which sign separates decimals. */
class AmountColumn {
  private readonly signs = new Set<DecimalSign>();
  readonly deferred: { readonly key: string; readonly line: number; readonly cell: string }[] = [];

  /** `undefined` if the cell has no amount in USD. */
  read(cell: string): MicroDollars | 'ambiguous' | undefined {
    const number = numberIn(cell);
    if (number === undefined) return undefined;
    // A single separator with three digits behind it, and no zero before it.
    if (/^[-+]?[1-9]\d{0,2}[.,]\d{3}$/.test(number)) return 'ambiguous';
    const sign = decimalSignOf(number);
    if (sign !== undefined) this.signs.add(sign);
    return amountOf(number, sign);
  }

  putOff(key: string, line: number, cell: string): void {
    this.deferred.push({ key, line, cell });
  }

  /** `undefined` if it still has two meanings. Without other amounts a point is one of decimals, as usual for US dollars. */
  decide(cell: string): MicroDollars | undefined {
    const number = numberIn(cell) ?? '';
    const [sign = number.includes(',') ? undefined : '.', other] = this.signs;
    return sign === undefined || other !== undefined ? undefined : amountOf(number, sign);
  }
}

/**
 * The digits and separators of an amount in USD: of `0.0875`, `$1,234.50`, `1.234,50 USD`, `0,175`, `-0.10`, `(0.10)`. `undefined`
 * if it is not an amount, or has another currency.
 */
function numberIn(cell: string): string | undefined {
  const text = cell.replace(/us\$|[\s$]|usd/gi, '').replace(/^\((.*)\)$/, '-$1');
  return /^[-+]?[\d.,]*\d[\d.,]*(?:e[-+]?\d+)?$/i.test(text) ? text : undefined;
}

/** The last separator if it occurs once, else the one that does not occur; `undefined` without separators. */
function decimalSignOf(number: string): DecimalSign | undefined {
  const last = Math.max(number.lastIndexOf('.'), number.lastIndexOf(','));
  if (last < 0) return undefined;
  const sign = number.charAt(last) === ',' ? ',' : '.';
  if (number.split(sign).length === 2) return sign;
  return sign === ',' ? '.' : ',';
}

function amountOf(number: string, sign: DecimalSign | undefined): MicroDollars | undefined {
  const usd = Number(number.replace(sign === ',' ? /\./g : /,/g, '').replace(',', '.'));
  return Number.isFinite(usd) ? Math.round(usd * 1_000_000) : undefined;
}
