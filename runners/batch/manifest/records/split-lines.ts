import split2 from 'split2';
import { ManifestError } from '../manifest-error.js';
import { feed } from './feed.js';
import { joinLongLines } from './join-long-lines.js';
import { maxRecordBytes } from './raw-record.js';

export interface TextLine {
  /** 1-based; blank lines count. */
  readonly line: number;
  readonly text: string;
}

/** Nothing but what JSON takes for white space. */
const blank = /^[ \t]*$/;

/** The lines of a text that are not blank, a batch for each piece. Throws `ManifestError` where one is too long. */
export async function* splitLines(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<TextLine[]> {
  let line = 0;
  let batch: TextLine[] = [];
  const gather = (text: string): void => {
    line++;
    if (!blank.test(text)) batch.push({ line, text });
  };
  const take = (): TextLine[] => {
    const taken = batch;
    batch = [];
    return taken;
  };
  const splitter = split2(/\r\n|\n|\r/, gather, { maxLength: maxRecordBytes });
  try {
    yield* feed(joinLongLines(chunks, maxRecordBytes), splitter, take);
  } catch (error) {
    if (error instanceof Error && error.message === 'maximum buffer reached')
      throw new ManifestError(name, 'the line is longer than 10 MB', { line: line + 1, cause: error });
    throw error;
  }
}
