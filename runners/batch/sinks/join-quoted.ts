const quote = 0x22;
const newline = Buffer.from('\n');

/** Lines of a CSV file as its records: a quoted cell may hold line breaks. */
export async function* joinQuoted(lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let open: Buffer[] = [];
  for await (const line of lines) {
    const isCut = isInQuotes(line) !== open.length > 0;
    if (isCut) open.push(line, newline);
    else {
      yield open.length > 0 ? Buffer.concat([...open, line]) : line;
      open = [];
    }
  }
}

/** Whether a cell of the line is open at its end, if none was at its beginning. */
function isInQuotes(line: Buffer): boolean {
  let count = 0;
  for (let at = line.indexOf(quote); at >= 0; at = line.indexOf(quote, at + 1)) count++;
  return count % 2 === 1;
}
