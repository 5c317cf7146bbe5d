/** The first characters of a text that a spreadsheet takes for a formula; `csv-stringify` escapes the same ones. */
const signs = '-=+@\t\r\uff1d\uff0b\uff0d\uff20';
const formula = new RegExp(`^[${signs}]`);
const escaped = new RegExp(`^'[${signs}]`);
const leading = new RegExp(`^[${signs}\\s]+`);

/** Whether a spreadsheet would take the text for a formula. */
export function isFormula(text: string): boolean {
  return formula.test(text);
}

/** Puts an apostrophe before a text that looks like a formula to a spreadsheet. */
export function escapeFormula(text: string): string {
  return isFormula(text) ? `'${text}` : text;
}

/** Whether a text begins as `escapeFormula` leaves it. */
export function isEscaped(text: string): boolean {
  return escaped.test(text);
}

/** Removes the apostrophe again, so that the text is used unchanged. */
export function unescapeFormula(text: string): string {
  return isEscaped(text) ? text.slice(1) : text;
}

/** Removes all such characters and blanks from the beginning. */
export function withoutSigns(text: string): string {
  return text.replace(leading, '');
}
