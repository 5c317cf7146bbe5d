import { ManifestError } from '../manifest-error.js';
import { recordOf, type RawRecord, type TextLine } from './raw-record.js';
import { splitLines } from './split-lines.js';

/** JSON lines → rows. Each line is parsed when it is pulled; until then it is kept as text. Blank lines are no rows. */
export async function* parseJsonl(
  chunks: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<Iterable<RawRecord>> {
  let empty = true;
  for await (const lines of splitLines(chunks, name)) {
    if (empty) refuseArray(lines[0], name);
    empty = false;
    yield toRecords(lines);
  }
  if (empty) throw new ManifestError(name, 'is empty: it holds no rows, only blank lines');
}

/** One message for a file that is a single JSON array, which would have an error in every line. */
function refuseArray(first: TextLine | undefined, name: string): void {
  if (first?.text.trimStart().startsWith('['))
    throw new ManifestError(name, 'is a JSON array; write one object a line instead (jq -c ".[]" does it)', {
      line: first.line,
    });
}

function* toRecords(lines: readonly TextLine[]): Generator<RawRecord> {
  for (const line of lines) yield recordOf(line);
}
