import type { MicroDollars } from '../../../src/contract/micro-dollars.js';

/**
 * The amount of a cell in USD: `0.0875`, `$1,234.50`, `1.234,50`, `0,175`, `-0.10`, `(0.10)`. `undefined` when it is none.
 * A comma before the last three digits is one of thousands, unless a zero stands before it.
 */
export function parseAmount(cell: string): MicroDollars | undefined {
  const text = cell.replace(/[\s$€£]|usd|eur|gbp/gi, '').replace(/^\((.*)\)$/, '-$1');
  if (!/^[-+]?[\d.,]*\d[\d.,]*(?:e[-+]?\d+)?$/i.test(text)) return undefined;
  const usd = Number(withDecimalPoint(text));
  return Number.isFinite(usd) ? Math.round(usd * 1_000_000) : undefined;
}

/** The separator that comes last, once, is the decimal one. */
function withDecimalPoint(text: string): string {
  const last = Math.max(text.lastIndexOf('.'), text.lastIndexOf(','));
  if (last < 0) return text;
  const mark = text.charAt(last);
  if (text.split(mark).length > 2 || /^[-+]?[1-9]\d{0,2},\d{3}$/.test(text)) return text.replace(/[.,]/g, '');
  return `${text.slice(0, last).replace(/[.,]/g, '')}.${text.slice(last + 1)}`;
}
