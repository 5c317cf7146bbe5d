/** How spreadsheets become what is read. */
export const saveAsCsv =
  'save it as CSV in UTF-8 (Excel: File > Save As > "CSV UTF-8"; LibreOffice: File > Save As > "Text CSV", Unicode (UTF-8); Numbers: File > Export To > CSV)';

const formats: readonly { readonly begins: readonly number[]; readonly says: string }[] = [
  { begins: [0xff, 0xfe], says: `is UTF-16 (in Excel: "Unicode Text"); ${saveAsCsv}` },
  { begins: [0xfe, 0xff], says: `is UTF-16 (in Excel: "Unicode Text"); ${saveAsCsv}` },
  { begins: [0, 0, 0xfe, 0xff], says: 'is UTF-32; save it as UTF-8' },
  { begins: [0x1f, 0x8b], says: 'is packed with gzip; give it a name that ends in .gz' },
  {
    begins: [0x50, 0x4b, 3, 4],
    says: `is a spreadsheet (.xlsx, .ods, .numbers) or another zip archive; ${saveAsCsv}`,
  },
  { begins: [0xd0, 0xcf, 0x11, 0xe0], says: `is a spreadsheet (.xls); ${saveAsCsv}` },
];

/** What a file is that is no UTF-8 text by its first bytes, and what to do about it; else `undefined`. */
export function foreignFormat(head: Uint8Array): string | undefined {
  const format = formats.find(({ begins }) => begins.every((byte, at) => head[at] === byte));
  if (format !== undefined) return format.says;
  const [first, second] = head;
  const everySecondIsNul = head.length >= 2 && (first === 0) !== (second === 0);
  return everySecondIsNul ? `looks like UTF-16; ${saveAsCsv}` : undefined;
}
