import type { MicroDollars } from '../../../src/contract/micro-dollars.js';

type DecimalSign = '.' | ',';

/** The amounts of a column. Those with two meanings are put off until the other ones have shown which sign separates decimals. */
export class AmountColumn {
  private readonly signs = new Set<DecimalSign>();
  readonly deferred: { readonly key: string; readonly line: number; readonly cell: string }[] = [];

  /** `undefined` if the cell has no amount in USD. */
  read(cell: string): MicroDollars | 'ambiguous' | undefined {
    const number = numberIn(cell);
    if (number === undefined) return undefined;
    if (hasTwoMeanings(number)) return 'ambiguous';
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

/** A single separator with three digits behind it, and no zero before it. */
function hasTwoMeanings(number: string): boolean {
  return /^[-+]?[1-9]\d{0,2}[.,]\d{3}$/.test(number);
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
