import { cellValue } from '../parse-json.js';
import type { Damage } from '../manifest-row.js';
import { isEscaped } from './formula-text.js';
import { quoteValue } from '../quote-value.js';

/** What the check of a cell depends on. */
export interface DamageRules {
  /** Whether the cell names a row or a job. */
  readonly isIdentity: boolean;
  /** Whether the cell becomes a JSON value if it is one. */
  readonly isTyped: boolean;
  readonly isPrompt: boolean;
}

/** The letters of error values in English and, without those that are the same, in other languages' Excel. */
const errorWords = [
  'REF NAME VALUE DIV/0 NUM NULL SPILL CALC ERROR FIELD BLOCKED CONNECT BUSY UNKNOWN EXTERNAL PYTHON TIMEOUT',
  'WERT BEZUG ZAHL ÜBERLAUF KALK FELD BLOCKIERT VERBINDEN',
  'NOM VALEUR NOMBRE NUL PROPAGATION EPARS',
  '¡VALOR ¡REF ¡DIV/0 ¿NOMBRE ¡NOMBRE ¡NUM ¡NULO ¡DESBORDAMIENTO VALOR NOME NÚM NULO DESPEJAR',
  'VALORE RIF NULLO ESPANSIONE',
  'WAARDE VERW DEEL/0 NAAM GETAL LEEG OVERLOPEN',
  'ARG ADR DZIEL/0 NAZWA LICZBA ZERO ROZLANIE',
  'VÄRDEFEL REFERENS DIVISION/0 NAMN OGILTIGT SKÄRNING VÆRDI REFERENCE NAVN TOM VERDI',
  'ARVO VIITTAUS JAKO/0 NIMI LUKU TYHJÄ',
  'HODNOTA ODKAZ DĚLENÍ_NULOU NÁZEV ČÍSLO ÉRTÉK HIV ZÉRÓOSZTÓ NÉV SZÁM NULLA',
  'ЗНАЧ ССЫЛКА ДЕЛ/0 ИМЯ ЧИСЛО ПУСТО ПЕРЕНОС',
  'DEĞER BAŞV SAYI/0 AD SAYI BOŞ TAŞMA',
];
/** "Not available" and the like, which need no exclamation mark. */
const bareWords =
  'N/A NV N/D N/B I/T Н/Д YOK SAKNAS PUUTTUU HIÁNYZIK NENÍ_K_DISPOZICI GETTING_DATA DATEN_ABRUFEN WERT BEZUG';
const oneOf = (words: string): string => words.replaceAll(' ', '|');
/**
 * `Err:502` is LibreOffice's, and `####` is what Excel exports from a column that is too narrow for its numbers;
 * `###` may be meant, to end the texts of a language model.
 */
const errorValue = new RegExp(
  `^\\s*(?:#(?:(?:${oneOf(errorWords.join(' '))})[!?]|(?:${oneOf(bareWords)})!?|###+)|(?:err|erro|erreur|fehler)\\s?:\\s?5\\d\\d)\\s*$`,
  'i',
);

/** Why a cell of a CSV cannot be sent: as a whole it is an error value of a spreadsheet. `undefined` for any other value. */
export function errorValueProblem(cell: unknown): string | undefined {
  if (typeof cell !== 'string' || !errorValue.test(cell)) return undefined;
  return `${quoteValue(cell)} is what a spreadsheet shows where it has no value; correct the cell there and export it again, or write the row in JSONL if you mean the text`;
}

/**
 * A quick look at a value by its first characters, and whether it has others than those of ASCII. Nearly all rows of a manifest end
 * here: patterns for each cell would take a tenth of the time that reading it takes.
 */
export function mayBeDamaged(value: unknown, { isIdentity, isTyped }: DamageRules): boolean {
  if (typeof value !== 'string') return typeof value === 'object' && value !== null;
  if (value === '') return false;
  if (isTyped || " #=?0'EeF\t\n\u00a0".includes(value.charAt(0))) return true;
  return isIdentity ? '.,Ee'.includes(value.charAt(1)) : Buffer.byteLength(value) > value.length;
}

const formula =
  /^\s*=[-+\s]*(?:[\p{L}_][\p{L}\d_.]*\(|\$?[a-z]{1,3}\$?\d+(?![\p{L}\d])|'[^']+'!|[\p{L}\d_]+!\$?[a-z]|["({])/iu;
const lostLetters = /^\s*\?\?/;
/** Not `3E12`, which may be a name: a spreadsheet writes the plus. */
const rounded = /^\d(?:[.,]\d+)?E\+\d+$/i;
const typed =
  /^[-+]?(?:\d+[.,]\d+|\d{1,3}(?:[.,'\u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?[ \u00a0]?%|\d(?:[.,]\d+)?E[-+]\d+)$|^(?:true|false|wahr|falsch|vrai|faux|verdadero|falso|vero|verdadeiro|waar|onwaar|prawda|fałsz|истина|ложь)$/i;

/** What has probably damaged a value that is sent; `undefined` if nothing has. */
export function damageOf(value: unknown, { isIdentity, isTyped, isPrompt }: DamageRules): Damage | undefined {
  if (typeof value === 'string') {
    if (garbledAt(value) >= 0) return 'encoding';
    if (formula.test(value)) return 'formula';
    if (isEscaped(value)) return 'escaped';
    if (lostLetters.test(value)) return 'encoding';
    if (isPrompt && value === '0') return 'zero';
    if (isIdentity && rounded.test(value)) return 'rounded';
    return isTyped && typed.test(value) && cellValue(value) === value ? 'typed' : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const entry of Object.values(value)) {
    const damage = damageOf(entry, inner);
    if (damage !== undefined) return damage;
  }
  return undefined;
}

/** Values inside a list or an object have the type that they were given. */
const inner: DamageRules = { isIdentity: false, isTyped: false, isPrompt: false };

/** The characters that the second and later bytes of a character in UTF-8 become in Windows-1252. */
const later = '[\u0080-\u00bfŒœŠšŸŽžƒˆ˜–—‘-‚“-„†-•…‰‹›€™]';
/**
 * UTF-8 that was read as Windows-1252 or as Mac Roman (`GrÃ¼ÃŸe`, `â€™`, `Gr√º√üe`), or the replacement character. Letters that
 * may also end a word before a quote or a dash, as in `Spaß“`, count only where two such pairs stand together.
 */
const garbled = new RegExp(
  [
    '\ufffd',
    // What `Â` may stand before in garbled text; quotes after it are those of a text about the letter.
    '(?<![A-ZÀ-Þ])Â[\u00a0-\u00bf]',
    `(?<![A-ZÀ-Þ])Ã${later}`,
    'Ã[„œŸ‰ˆ€‡]',
    'â€|â„¢|ðŸ|ï»¿',
    '[ÄÅ][‚¼™›‡º¡¾¯½±Ÿ]',
    `(?:[Ä-ß]${later}){2}`,
    `(?:[à-ï]${later}{2}){2}`,
    '√[§©º∂¶†ß±°≠≥≤∫™£µ¥ÆØ¢•®ªüñúÑâ]',
    '‚Ä[ôòúùìî¶¢†]',
  ].join('|'),
);

/** Where a text may be garbled: few texts in other languages get beyond this. */
const mayBeGarbled = new RegExp(`[\ufffd√‚]|[Â-ô]${later}`);

/** Where a text is garbled; -1 if it is not. */
export function garbledAt(text: string): number {
  return mayBeGarbled.test(text) ? text.search(garbled) : -1;
}
