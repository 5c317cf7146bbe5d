/** What a spreadsheet takes for a formula. */
const formula = /^[-=+@\t]/;

/** The lines of a starter manifest: an id from the picture's name, its path, and the prompt. */
export function* starterRows(pictures: readonly string[], prefix: string, prompt: string): Generator<string> {
  yield 'id,images,prompt\n';
  const ids = new Set<string>();
  for (const name of pictures)
    yield `${[freeId(name, ids), imageCell(prefix + name), textCell(prompt)].map(csvCell).join(',')}\n`;
}

/** Names that differ only in case or ending are told apart by a number. */
function freeId(name: string, ids: Set<string>): string {
  const stem = name.replace(/\.[^.]*$/, '').replace(/^[-=+@\s]+/, '') || 'picture';
  let id = stem;
  for (let number = 2; ids.has(id.toLowerCase()); number++) id = `${stem}-${number}`;
  ids.add(id.toLowerCase());
  return id;
}

/** A path that would be cut in two, or taken for something else, is written so that it is not. */
function imageCell(path: string): string {
  const plain = formula.test(path) || /^[^/]*:/.test(path) ? `./${path}` : path;
  return /[\s|]/.test(plain) || plain.startsWith('[') ? JSON.stringify([plain]) : plain;
}

/** A space in front does not change a prompt, and keeps a spreadsheet from working it out. */
function textCell(text: string): string {
  return formula.test(text) ? ` ${text}` : text;
}

function csvCell(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
