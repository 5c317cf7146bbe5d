import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ManifestError } from '../../../../../runners/batch/manifest/manifest-error.js';
import { readUtf8 } from '../../../../../runners/batch/manifest/records/read-utf8.js';
import { inChunks } from '../../../../support/manifest-items.js';

const everySize = [1, 2, 3, 5, 1_000_000];

async function textOf(bytes: Uint8Array, size: number, gzip = false): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readUtf8(inChunks(bytes, size), { name: 'edits.csv', gzip }))
    chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

async function problemOf(bytes: Uint8Array, size: number, gzip = false): Promise<ManifestError> {
  const error: unknown = await textOf(bytes, size, gzip).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ManifestError)) throw new Error(`no ManifestError, but ${String(error)}`);
  return error;
}

describe.each(everySize)('readUtf8 of pieces of %i bytes', (size) => {
  it('hands on UTF-8 whole, without a byte order mark [fault 22]', async () => {
    expect(await textOf(Buffer.from('\ufeffid\r\nä€😀\r'), size)).toBe('id\r\nä€😀\r');
  });

  it('keeps a byte order mark that is not at the start', async () => {
    expect(await textOf(Buffer.from('id\n\ufeffx'), size)).toBe('id\n\ufeffx');
  });

  it('reads fewer bytes than a mark would have', async () => {
    expect(await textOf(Buffer.from('a'), size)).toBe('a');
    expect(await textOf(Buffer.from('\ufeff'), size)).toBe('');
  });

  it('refuses an empty file [fault 22]', async () => {
    expect((await problemOf(Buffer.alloc(0), size)).message).toBe(
      'edits.csv: is empty: it needs rows, and a CSV a first line that names the columns',
    );
  });

  it.each([
    [
      'UTF-16 little endian',
      Buffer.from('\ufeffid', 'utf16le'),
      'is UTF-16 (in Excel: "Unicode Text"); save it as CSV in UTF-8',
    ],
    [
      'UTF-16 big endian',
      Buffer.from([0xfe, 0xff, 0, 0x69]),
      'is UTF-16 (in Excel: "Unicode Text"); save it as CSV in UTF-8',
    ],
    [
      'UTF-16 without a mark',
      Buffer.from('id,prompt', 'utf16le'),
      'looks like UTF-16; save it as CSV in UTF-8',
    ],
    ['UTF-32', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x69]), 'is UTF-32; save it as UTF-8'],
    ['gzip', gzipSync('id\n'), 'is packed with gzip; give it a name that ends in .gz'],
    [
      'a spreadsheet',
      Buffer.from('PK\u0003\u0004…'),
      'is a spreadsheet (.xlsx, .ods, .numbers) or another zip archive; save it as CSV',
    ],
  ])('refuses %s by name [fault 22]', async (_, bytes, problem) => {
    const error = await problemOf(bytes, size);
    expect(error.message).toContain(`edits.csv, line 1: ${problem}`);
    expect(error).toMatchObject({ code: 'manifest', line: 1 });
  });

  it('refuses invalid UTF-8 with line and character [fault 22]', async () => {
    const error = await problemOf(
      Buffer.concat([Buffer.from('id\r\nä,b\rä'), Buffer.from([0xe9, 0x20])]),
      size,
    );
    expect(error.message).toBe(
      'edits.csv, line 3, character 2: a byte that is not UTF-8; save the file as UTF-8 (in spreadsheets: "CSV UTF-8")',
    );
    expect(error).toMatchObject({ line: 3, column: 2 });
  });

  it('refuses a character that the end of the file cuts', async () => {
    expect((await problemOf(Buffer.from('id\n€').subarray(0, -1), size)).line).toBe(2);
  });

  it('refuses a byte that only continues a character, also many of them', async () => {
    expect((await problemOf(Buffer.from([0x69, 0x0a, 0x80, 0x80, 0x80, 0x80, 0x80]), size)).line).toBe(2);
  });

  it('refuses NUL with line and character [fault 22]', async () => {
    const error = await problemOf(Buffer.from('id\nab\ncd\0'), size);
    expect(error.message).toBe('edits.csv, line 3, character 3: a NUL byte: the file is damaged or no text');
  });

  it('unpacks gzip, also of many parts [fault 27]', async () => {
    const packed = Buffer.concat([gzipSync('id\n'), gzipSync('a\n'), gzipSync('b\n')]);
    expect(await textOf(packed, size, true)).toBe('id\na\nb\n');
  });

  it('refuses gzip that is cut short, and says after which line [fault 27]', async () => {
    const error = await problemOf(gzipSync('id\na\nb').subarray(0, -3), size, true);
    expect(error.message).toContain(
      'the gzip data is cut short here, or a byte follows its end; copy or pack the file again',
    );
    expect(error.line).toBeGreaterThan(0);
  });

  it('refuses a second part that is cut short', async () => {
    const packed = Buffer.concat([gzipSync('id\n'), gzipSync('a\n').subarray(0, 5)]);
    expect((await problemOf(packed, size, true)).message).toContain('the gzip data is cut short here');
  });

  it('does not call a file cut that one byte was added to', async () => {
    const packed = Buffer.concat([gzipSync('id\na\n'), Buffer.from('\n')]);
    expect((await problemOf(packed, size, true)).message).toContain('or a byte follows its end');
  });

  it('refuses what is no gzip', async () => {
    expect((await problemOf(Buffer.from('id,prompt\n'), size, true)).message).toBe(
      'edits.csv: is not gzip data; pack it, or give it a name without .gz',
    );
  });

  it('says of bytes behind complete gzip data what they are, not at which line the reader was', async () => {
    for (const more of ['more text', '\u001f\u008b\u0009more']) {
      const packed = Buffer.concat([gzipSync('id\na\n'.repeat(10_000)), Buffer.from(more, 'latin1')]);
      expect((await problemOf(packed, size, true)).message).toBe(
        'edits.csv: something else follows the end of the gzip data; copy or pack the file again',
      );
    }
  });
});

describe('readUtf8', () => {
  it('says why a source cannot be read', async () => {
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('id,prompt\n');
      throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    }
    const text = readUtf8(source(), { name: 'edits.csv', gzip: false });
    await text.next();
    await expect(text.next()).rejects.toThrow('edits.csv: cannot be read: EIO: i/o error, read');
  });

  it('does not keep a chunk that its source uses again', async () => {
    const chunk = Buffer.from('ab\r');
    async function* source(): AsyncGenerator<Uint8Array> {
      yield chunk;
      chunk.fill('x');
      yield Buffer.from('\nc');
    }
    let text = '';
    for await (const chunk of readUtf8(source(), { name: 'edits.csv', gzip: false }))
      text += chunk.toString();
    expect(text).toBe('ab\r\nc');
  });

  it('hands on small pieces of a large chunk', async () => {
    const sizes: number[] = [];
    for await (const chunk of readUtf8(inChunks(Buffer.alloc(100_000, 'a')), { name: 'x', gzip: false }))
      sizes.push(chunk.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(16_384);
  });
});
