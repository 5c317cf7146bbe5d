import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../../runners/batch/manifest/read-manifest.js';
import type { ManifestItem } from '../../../../runners/batch/manifest/manifest-row.js';
import { inChunks, jsonLines, readInvalid, readItems, readRows } from '../../../support/manifest-items.js';

const url = 'https://example.com/1.png';
const settings = { name: 'edits.csv', format: 'csv', gzip: false, endpoint: 'e' } as const;

describe('readManifest', () => {
  it('reads an edit from CSV', async () => {
    const [row] = await readRows(
      `id,images,prompt,resolution,aspect_ratio,output_format,enable_base64_output,title\nx,${url}|${url},make it red,2K,16:9,png,TRUE,Sea\n`,
    );
    expect(row).toMatchObject({
      id: 'x',
      row: 1,
      line: 2,
      kind: 'edit',
      endpoint: 'e',
      mode: 'sync',
      resolution: '2k',
      request: {
        kind: 'edit',
        input: {
          images: [url, url],
          prompt: 'make it red',
          resolution: '2k',
          aspect_ratio: '16:9',
          output_format: 'png',
          enable_base64_output: true,
        },
      },
      columns: { title: 'Sea' },
    });
    expect(row?.cells).toEqual({
      id: 'x',
      images: `${url}|${url}`,
      prompt: 'make it red',
      resolution: '2K',
      aspect_ratio: '16:9',
      output_format: 'png',
      enable_base64_output: 'TRUE',
      title: 'Sea',
    });
    expect(row?.hash).toMatch(/^[\da-f]{24}$/);
  });

  it('does not send what is absent, and prices it as 1k', async () => {
    const [row] = await readRows(`images,prompt,resolution,output_format\n${url},x,,\n`);
    expect(row?.request).toEqual({ kind: 'edit', input: { images: [url], prompt: 'x' } });
    expect(row?.resolution).toBe('1k');
  });

  it('reads a job and a route call from JSONL', async () => {
    const rows = await readRows(
      jsonLines(
        { id: 'j', input: { a: [1] }, 'input.b.c': '42', note: { any: 1 } },
        { id: 'r', route: '/info?x=1', method: 'get' },
        { id: 's', route: 'echo', body: { a: 1 }, 'body.b': null },
      ),
      { format: 'jsonl' },
    );
    expect(
      rows.map(({ kind, mode, endpoint, request, columns }) => ({ kind, mode, endpoint, request, columns })),
    ).toEqual([
      {
        kind: 'job',
        mode: 'async',
        endpoint: 'e',
        request: { kind: 'job', input: { a: [1], b: { c: '42' } } },
        columns: { note: { any: 1 } },
      },
      {
        kind: 'route',
        mode: 'sync',
        endpoint: '',
        request: { kind: 'route', method: 'GET', route: '/info?x=1' },
        columns: {},
      },
      {
        kind: 'route',
        mode: 'sync',
        endpoint: '',
        request: { kind: 'route', method: 'POST', route: 'echo', body: { a: 1, b: null } },
        columns: {},
      },
    ]);
  });

  it('reads cells of input and body columns as JSON where they print back the same', async () => {
    const [job, route] = await readRows(
      'input.n,input.code:text,input.zip,input.list,input.empty,route,body,body.x\n' +
        '42,42,007,[1],,,,\n' +
        ',,,,,/echo,"{""a"": 1}",true\n',
    );
    expect(job?.request).toEqual({ kind: 'job', input: { n: 42, code: '42', zip: '007', list: [1] } });
    expect(route?.request).toEqual({
      kind: 'route',
      method: 'POST',
      route: '/echo',
      body: { a: 1, x: true },
    });
  });

  it('gives cells that read the same again as JSONL', async () => {
    const csv =
      'id,kind,images,prompt,enable_base64_output,input.n,input.code:text,input.zip,input,route,body,body.x,own\n' +
      `a,,${url} ${url},x,true,,,,,,,,o\n` +
      'b,job,,,,42,42,007,"{""k"": ""v""}",,,,\n' +
      'c,route,,,,,,,,/echo,"{""a"": 1}",1,\n';
    const rows = await readRows(csv, {
      set: { resolution: '2k', 'input.steps': '3' },
      map: { 'input.own': 'own' },
    });
    const again = await readRows(jsonLines(...rows.map(({ cells }) => cells)), { format: 'jsonl' });
    expect(again.map(({ hash }) => hash)).toEqual(rows.map(({ hash }) => hash));
    expect(again.map(({ request }) => request)).toEqual(rows.map(({ request }) => request));
  });

  it('unpacks gzip', async () => {
    const packed = Buffer.concat([gzipSync(`id,images,prompt\na,${url},x\n`), gzipSync(`b,${url},x\n`)]);
    expect((await readRows(packed, { gzip: true })).map(({ id, line }) => [id, line])).toEqual([
      ['a', 2],
      ['b', 3],
    ]);
  });

  it('counts rows apart from lines', async () => {
    const items = await readItems(`id,images,prompt\n\na,${url},"x\ny"\nragged\n,,\nb,${url},z\n`);
    expect(items.map(({ valid, row }) => [valid, row.row, row.line])).toEqual([
      [true, 1, 3],
      [false, 2, 5],
      [true, 3, 7],
    ]);
  });

  it('refuses a wrong --endpoint once', async () => {
    await expect(readItems('id\n', { endpoint: '../x' })).rejects.toThrow(
      'edits.csv: --endpoint "../x" may hold only letters, digits, ".", "_", "~" and "-", and begins with a letter or digit',
    );
  });
});

describe('readManifest finds the kind', () => {
  it.each([
    [{ kind: 'job', input: {}, route: '/x' }, 'job'],
    [{ kind: 'edit', input: { images: [url], prompt: 'x' } }, 'edit'],
    [{ route: '/x', images: url, prompt: 'x' }, 'route'],
    [{ images: url, prompt: 'x', input: { seed: 1 } }, 'edit'],
    [{ images: url, prompt: 'x' }, 'edit'],
    [{ input: {} }, 'job'],
    [{ 'input.a': 1 }, 'job'],
    [{ 'input.images': [url], 'input.prompt': 'x' }, 'job'],
    [{ route: '', images: null, input: {} }, 'job'],
  ])('of %j', async (cells, kind) => {
    expect((await readRows(jsonLines(cells), { format: 'jsonl' }))[0]?.kind).toBe(kind);
  });

  it('as it is told, unless the row says otherwise', async () => {
    const rows = await readRows(
      jsonLines({ images: url, prompt: 'x', input: {} }, { kind: 'route', route: '/x' }),
      {
        format: 'jsonl',
        kind: 'job',
      },
    );
    expect(rows.map(({ kind }) => kind)).toEqual(['job', 'route']);
  });

  it('or says that it cannot', async () => {
    const invalid = await readInvalid(jsonLines({ kind: 'video' }, { title: 'x' }, { kind: 7 }), {
      format: 'jsonl',
    });
    expect(invalid.map(({ problems }) => problems)).toEqual([
      [{ column: 'kind', message: '"video" is not one of edit, job, route' }],
      [
        {
          message:
            'has nothing to send: an edit has images and prompt, a job has input, a route call has route; a column of another name is read by --map, such as --map prompt=NAME',
        },
      ],
      [{ column: 'kind', message: '7 is not one of edit, job, route' }],
    ]);
  });
});

describe('readManifest refuses', () => {
  const images = (count: number): string[] =>
    Array.from({ length: count }, (_, at) => `https://e.com/${at}.png`);

  it.each<[object, string, string]>([
    [{ images: [], prompt: 'x' }, 'images', 'needs at least 1 image URL (got 0)'],
    [{ images: '[]', prompt: 'x' }, 'images', 'needs at least 1 image URL (got 0)'],
    [{ images: ' | ', prompt: 'x' }, 'images', 'needs at least 1 image URL (got 0)'],
    [
      { images: '["x"', prompt: 'x' },
      'images',
      "begins with \"[\", but is not JSON: expected ',' or ']' after array element in JSON at position 4",
    ],
    [{ images: { a: 1 }, prompt: 'x' }, 'images', 'is not a list of URLs, but {"a":1}'],
    [{ images: images(15), prompt: 'x' }, 'images', 'takes at most 14 image URLs (got 15)'],
    [
      { images: 'file:///etc/passwd', prompt: 'x' },
      'images',
      'image 1: is not an http or https URL (got "file:///etc/passwd")',
    ],
    [
      { images: `${url} javascript:alert(1)`, prompt: 'x' },
      'images',
      'image 2: is not an http or https URL (got "javascript:alert(1)")',
    ],
    [
      { images: 'ftp://e.com/1.png', prompt: 'x' },
      'images',
      'image 1: is not an http or https URL (got "ftp://e.com/1.png")',
    ],
    [
      { images: 'data:image/png;base64,AA', prompt: 'x' },
      'images',
      'image 1: is not an http or https URL (got "data:image/png;base64,AA")',
    ],
    [
      { images: 'pictures/a.png', prompt: 'x' },
      'images',
      'image 1: "pictures/a.png" is a path: say where pictures lie with --images-base URL, upload them with --upload s3://bucket/prefix, rehearse with --local, or write an http or https URL',
    ],
    [
      { images: 'C:\\a.png', prompt: 'x' },
      'images',
      'image 1: "C:\\\\a.png" is a path: say where pictures lie with --images-base URL, upload them with --upload s3://bucket/prefix, rehearse with --local, or write an http or https URL',
    ],
    [{ prompt: 'x' }, 'images', 'is missing'],
    [{ images: url }, 'prompt', 'is missing'],
    [{ images: url, promt: 'x' }, 'prompt', 'is missing; rename column "promt" if it is meant'],
    [{ images: url, prompt: ' ' }, 'prompt', 'is empty'],
    [{ images: url, prompt: 42 }, 'prompt', '42 is not text'],
    [{ images: url, prompt: 'x', resolution: '8k' }, 'resolution', '"8k" is not one of 1k, 2k, 4k'],
    [
      { images: url, prompt: 'x', aspect_ratio: '16x9' },
      'aspect_ratio',
      '"16x9" is not a ratio of the form <width>:<height>, such as 16:9',
    ],
    [
      { images: url, prompt: 'x', aspect_ratio: '0:1' },
      'aspect_ratio',
      '"0:1" is not a ratio of the form <width>:<height>, such as 16:9',
    ],
    [
      { images: url, prompt: 'x', aspect_ratio: '16:09:00' },
      'aspect_ratio',
      '"16:09:00" is not a ratio of the form <width>:<height>, such as 16:9; a spreadsheet has made a time of it: format the column as text, and write it again',
    ],
    [
      { images: url, prompt: 'x', enable_base64_output: 'yes' },
      'enable_base64_output',
      '"yes" is not one of true, false',
    ],
    [
      { images: url, prompt: 'x', 'input.prompt': 'y' },
      'input.prompt',
      'prompt is set by another column too',
    ],
    [{ images: url, 'input.prompt': '' }, 'input.prompt', 'is empty'],
    [{ images: url, prompt: 'x', input: { prompt: 'y' } }, 'prompt', 'stands in the input object too'],
    [{ kind: 'job' }, 'input', 'is missing: a job needs an input object, or columns input.<name>'],
    [
      { kind: 'job', inputs: { a: 1 } },
      'input',
      'is missing; rename column "inputs" if it is meant: a job needs an input object, or columns input.<name>',
    ],
    [{ input: [1] }, 'input', 'is not a JSON object, but a list'],
    [{ input: 'x' }, 'input', "is not JSON: unexpected token 'x'"],
    [{ input: '"x"' }, 'input', 'is not a JSON object, but a string'],
    [{ input: { a: 1 }, 'input.a': 2 }, 'input.a', 'a is set by another column too'],
    [{ 'input.': 2 }, 'input.', 'has an empty part; write input.<name> or input.<name>.<name>'],
    [{ kind: 'route' }, 'route', 'is missing: a route call needs the path of its route'],
    [{ route: '//evil' }, 'route', '"//evil" names another host: only a path is allowed'],
    [{ route: 'http://evil/x' }, 'route', '"http://evil/x" names another host: only a path is allowed'],
    [{ route: '/a/../b' }, 'route', '"/a/../b" contains a segment "." or ".."'],
    [{ route: 7 }, 'route', 'is not text, but 7'],
    [{ route: '/x', method: 'PUT' }, 'method', '"PUT" is not one of GET, POST'],
    [
      { route: '/x', method: 'GET', body: '{}' },
      'body',
      'a GET row has no body; leave the cell empty, or use method POST',
    ],
    [
      { route: '/x', method: 'GET', 'body.a': 1 },
      'body.a',
      'a GET row has no body; leave the cell empty, or use method POST',
    ],
    [{ route: '/x', body: 'text' }, 'body', "is not JSON: unexpected token 'e'"],
    [{ route: '/x', body: [1], 'body.a': 1 }, 'body', 'is not a JSON object, but a list'],
    [{ route: '/x', body: '[1]' }, 'body', 'is not a JSON object, but a list'],
    [{ route: '/x', body: '"text"' }, 'body', 'is not a JSON object, but a string'],
    [{ route: '/x', body: 5 }, 'body', 'is not a JSON object, but a number'],
    [{ route: '/x', body: 'null' }, 'body', 'is not a JSON object, but null'],
    [
      { input: {}, endpoint: '../x' },
      'endpoint',
      '"../x" may hold only letters, digits, ".", "_", "~" and "-", and begins with a letter or digit',
    ],
    [
      { input: {}, endpoint: 'https://evil' },
      'endpoint',
      '"https://evil" may hold only letters, digits, ".", "_", "~" and "-", and begins with a letter or digit',
    ],
    [{ input: {}, endpoint: 7 }, 'endpoint', '7 is not text'],
    [{ input: {}, id: 'a\u0007b' }, 'id', 'holds a control character'],
    [{ input: {}, id: 'x'.repeat(1_001) }, 'id', 'has 1001 characters; at most 1000 are allowed'],
    [{ input: {}, id: ['x'] }, 'id', '["x"] is neither text nor a number'],
    [
      { input: {}, jobId: 'j' },
      'jobId',
      'stands beside input: a row collects a job or sends something, not both',
    ],
    [
      { jobId: 'j', prompt: 'x', 'input.a': 1 },
      'jobId',
      'stands beside prompt, input.a: a row collects a job or sends something, not both',
    ],
  ])('%j', async (cells, column, message) => {
    expect(
      (await readInvalid(jsonLines(cells), { format: 'jsonl' })).map(({ problems }) => problems),
    ).toEqual([[{ column, message }]]);
  });

  it('a row without an endpoint, but no route', async () => {
    const text = jsonLines({ input: {} }, { route: '/x' });
    const items = await readItems(text, { format: 'jsonl', endpoint: undefined });
    expect(items.map((item) => item.valid || item.row.problems)).toEqual([
      [
        {
          column: 'endpoint',
          message: 'is missing: name it in this column, or for all rows with --endpoint',
        },
      ],
      true,
    ]);
  });

  it('with all that is wrong with a row at once [fault 26]', async () => {
    const [row] = await readInvalid(
      `id,images,prompt,resolution,endpoint\na,${url},x,,\na,ftp://e.com,,8k,../x\n`,
    );
    expect(row?.problems.map(({ column }) => column)).toEqual([
      'id',
      'endpoint',
      'images',
      'prompt',
      'resolution',
    ]);
    expect(row).toMatchObject({ row: 2, line: 3, id: 'a' });
  });
});

describe('readManifest and ids', () => {
  it('refuses an id that stands twice, and names the first line [fault 25]', async () => {
    const invalid = await readInvalid(
      `id,images,prompt\na,${url},"x\ny"\nb,${url},x\nA,${url},x\na,${url},x\n`,
    );
    expect(invalid.map(({ line, problems }) => [line, problems])).toEqual([
      [6, [{ column: 'id', message: '"a" is the id of line 2 too; each row needs its own' }]],
    ]);
  });

  it('refuses a second row that collects a job, of the same endpoint alone, and names both lines', async () => {
    const invalid = await readInvalid(
      'id,jobId,endpoint\na,j1,e\nb,j1,other\nc,j2,e\nd,j1,e\n,j2,e\ne,j3,e\n',
    );
    expect(invalid.map(({ line, problems }) => [line, problems])).toEqual([
      [5, [{ column: 'jobId', message: '"j1" is the job that line 2 collects too; leave one of the rows' }]],
      [6, [{ column: 'jobId', message: '"j2" is the job that line 4 collects too; leave one of the rows' }]],
    ]);
  });

  it('refuses it also of failures that are read back', async () => {
    const failed = (id: string) =>
      JSON.stringify({
        id,
        input: { n: id },
        error: { code: 'deadline', paid: 'maybe' },
        millrace: { kind: 'job', endpoint: 'e', jobId: 'j1' },
      });
    const invalid = await readInvalid(`${failed('a')}\n${failed('b')}\n`, { format: 'jsonl' });
    expect(invalid.map(({ id }) => id)).toEqual(['b']);
  });

  it('refuses ids that hold half a character: as file names they were all the same [fault 21a]', async () => {
    const rows = ['"\\ud800"', '"a\\udc00b"', '"\\ude00\\ud83d"', '"\\ud83d\\ude00"'];
    const invalid = await readInvalid(
      rows.map((id) => `{"id":${id},"images":["${url}"],"prompt":"x"}\n`).join(''),
      { format: 'jsonl' },
    );
    expect(invalid.map(({ line, problems }) => [line, problems[0]?.column])).toEqual([
      [1, 'id'],
      [2, 'id'],
      [3, 'id'],
    ]);
    expect(invalid[0]?.problems[0]?.message).toBe(
      '"\\ud800" holds half a character, which no file name can; write the whole one',
    );
  });

  it.each([
    ['a job', 'id,input', `a,"{""seed"":1,""seed"":2}"`, 'input'],
    ['a job, deep', 'id,input', `a,"{""x"":[{""y"":1,""y"":1}]}"`, 'input'],
    ['a route', 'id,route,body', `a,/r,"{""n"":1,""n"":2}"`, 'body'],
  ])('refuses a key that stands twice in the cell of %s', async (_, names, row, column) => {
    const [invalid] = await readInvalid(`${names}\n${row}\n`);
    expect(invalid?.line).toBe(2);
    expect(invalid?.problems).toEqual([
      { column, message: expect.stringMatching(/^has the key ".*" twice.* \(character \d+\); leave one/) },
    ]);
  });

  it('knows the id of a row that is invalid for another reason', async () => {
    const invalid = await readInvalid(`id,images,prompt\na,,x\na,${url},x\n`);
    expect(invalid.map(({ line, id }) => [line, id])).toEqual([
      [2, 'a'],
      [3, 'a'],
    ]);
    expect(new Set(invalid.map(({ key }) => key)).size).toBe(2);
  });

  it('gives what cannot be read a key that stays when other lines are mended', async () => {
    const keys = async (text: string): Promise<string[]> =>
      (await readInvalid(text, { format: 'jsonl' })).map(({ key }) => key);
    const [, second] = await keys('nonsense 1\nnonsense 2\n');
    expect(await keys('{"input":{}}\nnonsense 2\n')).toEqual([second]);
  });

  it('derives an id from the request, and numbers repeats [fault 25]', async () => {
    const rows = await readRows(
      `id,images,prompt,title\n,${url},x,a\n,${url},y,b\n,${url},x,c\n,${url},x,d\n`,
    );
    const [first, , third, fourth] = rows;
    expect(first?.id).toBe(first?.hash.slice(0, 12));
    expect([third?.id, fourth?.id]).toEqual([`${first?.id}-2`, `${first?.id}-3`]);
    expect(rows.map(({ repeat }) => repeat)).toEqual([undefined, undefined, 2, 3]);
    expect(rows.map(({ cells }) => 'id' in cells && cells['id'])).toEqual(['', '', '', '']);
  });

  it('takes numbers, and any text', async () => {
    const ids = ['../x', '/abs', 'con', 'a/b', '😀', ' ', '=cmd()', '<script>'];
    const rows = await readRows(jsonLines({ id: 7, input: {} }, ...ids.map((id) => ({ id, input: {} }))), {
      format: 'jsonl',
    });
    expect(rows.map(({ id }) => id)).toEqual(['7', ...ids]);
  });

  it('gives the same hash whatever the order of columns, and another for another endpoint', async () => {
    const [a] = await readRows(`images,prompt,resolution\n${url},x,2k\n`);
    const [b] = await readRows(`resolution,title,prompt,images\n2K,t,x,${url}\n`);
    const [c] = await readRows(`images,prompt,resolution\n${url},x,2k\n`, { endpoint: 'other' });
    expect(a?.hash).toBe(b?.hash);
    expect(a?.hash).not.toBe(c?.hash);
  });

  it('is the same wherever a piece ends', async () => {
    const text = `id,images,prompt,input.é\r\n,${url}|${url},"ä\r\n""€",1\r\n\r\na,${url},x,😀\r\nragged\r\na,${url},x,\r\n`;
    const whole = await readItems(text);
    for (let chunkBytes = 1; chunkBytes < 80; chunkBytes++)
      expect(await readItems(text, { chunkBytes })).toEqual(whole);
  });
});

describe('readManifest with --set and --map', () => {
  it('fills what a row leaves empty', async () => {
    const rows = await readRows(`images,resolution,input.seed\n${url},,\n${url},4k,7\n`, {
      set: { prompt: 'x', resolution: '2k', 'input.seed': '1', 'input.code:text': '42' },
    });
    expect(rows.map(({ request }) => 'input' in request && request.input)).toEqual([
      { images: [url], prompt: 'x', resolution: '2k', seed: 1, code: '42' },
      { images: [url], prompt: 'x', resolution: '4k', seed: 7, code: '42' },
    ]);
    expect(rows[0]?.cells).toEqual({
      images: url,
      resolution: '2k',
      prompt: 'x',
      'input.seed': 1,
      'input.code:text': '42',
    });
  });

  it('does not put a value into an object that says otherwise', async () => {
    const rows = await readRows(jsonLines({ input: { steps: 5 } }, { input: {} }), {
      format: 'jsonl',
      set: { 'input.steps': '3' },
    });
    expect(rows.map(({ request }) => 'input' in request && request.input)).toEqual([
      { steps: 5 },
      { steps: 3 },
    ]);
  });

  it('takes a field from another column, which then goes by the field', async () => {
    const [row] = await readRows(`Picture,Text,sku\n${url},x,7\n`, {
      map: { images: 'Picture', prompt: 'Text', id: 'sku', 'input.sku:text': 'sku' },
    });
    expect(row).toMatchObject({
      id: '7',
      request: { input: { images: [url], prompt: 'x', sku: '7' } },
      columns: {},
    });
    expect(row?.cells).toEqual({ images: url, prompt: 'x', id: '7', 'input.sku:text': '7' });
  });

  it('names the user’s column in messages', async () => {
    const [row] = await readInvalid(`Picture,Text,Size\n${url},x,8k\n`, {
      map: { images: 'Picture', prompt: 'Text', resolution: 'Size' },
    });
    expect(row?.problems).toEqual([{ column: 'Size', message: '"8k" is not one of 1k, 2k, 4k' }]);
  });

  it('refuses a mapped field that has a column of its own', async () => {
    const [row] = await readInvalid(`images,prompt,Text\n${url},x,y\n`, { map: { prompt: 'Text' } });
    expect(row?.problems).toEqual([
      {
        column: 'prompt',
        message: '--map prompt=Text takes this field from "Text"; rename or remove this column',
      },
    ]);
  });

  it.each([
    [{ set: { promt: 'x' } }, '--set promt=…: there is no field "promt"; did you mean prompt?'],
    [{ map: { title: 'x' } }, '--map title=…: there is no field "title"'],
    [{ set: { id: 'x' } }, '--set id=…: id cannot be the same for every row'],
    [
      { set: { 'input.': 'x' } },
      '--set input.=…: input. has an empty part; write input.<name> or input.<name>.<name>',
    ],
  ])('refuses %j', async (given, message) => {
    await expect(readItems('x\n', given)).rejects.toThrow(`edits.csv: ${message}`);
  });
});

describe('readManifest with paths of pictures', () => {
  const asked: string[] = [];
  const resolveImage = (path: string): string | { problem: string } => {
    asked.push(path);
    return path.includes('..') ? { problem: 'leads outside the folder' } : `http://127.0.0.1:1234/${path}`;
  };

  it('asks once for each, sends URLs, and hashes what is written', async () => {
    const text = `images,prompt\na.png|${url}|b/c.png,x\na.png,y\n`;
    const rows = await readRows(text, { resolveImage });
    expect(rows.map(({ request }) => request.kind === 'edit' && request.input.images)).toEqual([
      ['http://127.0.0.1:1234/a.png', url, 'http://127.0.0.1:1234/b/c.png'],
      ['http://127.0.0.1:1234/a.png'],
    ]);
    expect(asked).toEqual(['a.png', 'b/c.png']);
    expect(rows[1]?.cells['images']).toBe('a.png');
    const again = await readRows(text, { resolveImage: (path) => `http://127.0.0.1:9/${path}` });
    expect(again.map(({ id, hash }) => [id, hash])).toEqual(rows.map(({ id, hash }) => [id, hash]));
  });

  it('tells what is wrong with a path', async () => {
    const [row] = await readInvalid(`images,prompt\n"[""../x.png"", ""a b.png""]",x\n`, { resolveImage });
    expect(row?.problems).toEqual([
      { column: 'images', message: 'image 1: "../x.png" leads outside the folder' },
    ]);
  });
});

describe('readManifest of failures', () => {
  const error = { code: 'deadline', message: 'no end', retryable: true, paid: 'maybe' };
  const millrace = {
    row: 3,
    kind: 'job',
    endpoint: 'before',
    jobId: 'j1',
    attempts: 1,
    settledAt: '2026-11-21T00:00:00Z',
  };

  it('knows what was paid, and polls where the job is', async () => {
    const [row] = await readRows(jsonLines({ id: 'a', input: { a: 1 }, error, millrace }), {
      format: 'jsonl',
    });
    expect(row).toMatchObject({
      endpoint: 'before',
      jobId: 'j1',
      prior: { code: 'deadline', paid: 'maybe', jobId: 'j1' },
      cells: { id: 'a', input: { a: 1 } },
      columns: {},
    });
    expect(Object.keys(row?.cells ?? {})).toEqual(['id', 'input']);
  });

  it('sends what was not paid to the endpoint of this start', async () => {
    const failed = { ...error, code: 'job-failed', paid: 'no' };
    const text = jsonLines({ id: 'a', input: {}, error: failed, millrace });
    expect((await readRows(text, { format: 'jsonl' }))[0]).toMatchObject({ endpoint: 'e', jobId: undefined });
    expect((await readRows(text, { format: 'jsonl', endpoint: undefined }))[0]?.endpoint).toBe('before');
  });

  it('keeps the URL of a picture that is paid', async () => {
    const text = jsonLines({
      id: 'a',
      input: {},
      error: { ...error, code: 'download', paid: 'yes' },
      millrace: { ...millrace, imageUrl: url },
    });
    expect((await readRows(text, { format: 'jsonl' }))[0]).toMatchObject({
      jobId: undefined,
      prior: { code: 'download', paid: 'yes', jobId: 'j1', imageUrl: url },
    });
  });

  it('trusts no file that calls a paid row unpaid', async () => {
    const text = jsonLines({
      id: 'a',
      input: {},
      error: { ...error, code: 'unknown', paid: 'no' },
      millrace,
    });
    expect((await readRows(text, { format: 'jsonl' }))[0]?.prior?.paid).toBe('maybe');
  });

  it('reads failures.csv, without the marks that keep spreadsheets from calculating', async () => {
    const quoted = (value: object): string => `"${JSON.stringify(value).replaceAll('"', '""')}"`;
    const text = `id,images,prompt,error,millrace\n'-a,${url},'=x,${quoted(error)},${quoted({ ...millrace, kind: 'edit' })}\n`;
    const [row] = await readRows(text);
    expect(row).toMatchObject({
      id: '-a',
      prior: { code: 'deadline' },
      request: { input: { prompt: '=x' } },
    });
  });

  it('reads failures.csv as it is written, a column for each fact', async () => {
    const head =
      'id,input.a,title,error.code,error.message,error.paid,millrace.row,millrace.kind,millrace.endpoint,millrace.jobId';
    const rows = [
      `a,1,x,unknown,lost,maybe,1,job,before,`,
      `b,2,x,deadline,slow,maybe,2,job,before,'-j2`,
      `c,3,x,job-failed,boom,no,3,job,before,j3`,
      `d,4,x,,,,,,,`,
    ];
    const [a, b, c, d] = await readRows([head, ...rows].join('\n'));
    expect(a).toMatchObject({ prior: { code: 'unknown', paid: 'maybe' }, endpoint: 'before' });
    expect(b).toMatchObject({ prior: { code: 'deadline' }, jobId: '-j2' });
    expect(c).toMatchObject({ prior: { paid: 'no' }, columns: { title: 'x' } });
    expect(d).toMatchObject({ prior: undefined, request: { input: { a: 4 } } });
    expect(Object.keys(a?.cells ?? {})).toEqual(['id', 'input.a', 'title']);
  });

  it("gives a column of the user's own that is called as a fact its name back", async () => {
    const head =
      'id,input.a,columns.error.code,columns.Error.note,columns.columns.error.code,columns.mine,error.code,error.paid,millrace.kind';
    const [row] = await readRows(`${head}\na,1,E42,n,c,m,job-failed,no,job\n`);
    expect(row?.prior).toMatchObject({ code: 'job-failed', paid: 'no' });
    expect(row?.columns).toEqual({
      'error.code': 'E42',
      'Error.note': 'n',
      'columns.error.code': 'c',
      'columns.mine': 'm',
    });
  });

  it('reads the names of its columns in any case of letters', async () => {
    const [row] = await readRows('id,input.a,Error.code,Error.paid,Millrace.kind\na,1,unknown,maybe,job\n');
    expect(row?.prior).toMatchObject({ code: 'unknown', paid: 'maybe' });
  });

  it('refuses a failures.csv that was cut down to less than says what was paid', async () => {
    const invalid = await readInvalid('id,input.a,millrace.jobId\na,1,j1\n');
    expect(invalid[0]?.problems).toMatchObject([{ column: 'millrace' }]);
  });

  it('takes the kind from the failure', async () => {
    const text = jsonLines({ id: 'a', images: url, prompt: 'x', input: {}, error, millrace });
    expect((await readRows(text, { format: 'jsonl' }))[0]?.kind).toBe('job');
  });

  it.each<[object, string]>([
    [{ error: 'boom' }, 'error'],
    [{ error, millrace: undefined }, 'error'],
    [{ millrace }, 'millrace'],
    [{ millrace: 'mine' }, 'millrace'],
    [{ error: { ...error, code: 'nonsense' }, millrace }, 'error'],
    [{ error: { ...error, paid: 'perhaps' }, millrace }, 'error'],
    [{ error, millrace: { ...millrace, kind: 'video' } }, 'error'],
    [{ error, millrace: { ...millrace, jobId: 7 } }, 'error'],
    [{ error, millrace: [] }, 'error'],
  ])('refuses columns of these names otherwise: %j', async (cells, column) => {
    const invalid = await readInvalid(jsonLines({ input: {}, ...cells }), { format: 'jsonl' });
    expect(invalid.map(({ problems }) => problems)).toEqual([
      [
        {
          column,
          message:
            'is a name that only lines of failures.jsonl have, where error {code, paid, …} and millrace {kind, endpoint, …} stand together; rename the column',
        },
      ],
    ]);
  });

  it('refuses to fetch a picture from anywhere', async () => {
    const text = jsonLines({ input: {}, error, millrace: { ...millrace, imageUrl: 'file:///etc/passwd' } });
    const [row] = await readInvalid(text, { format: 'jsonl' });
    expect(row?.problems).toEqual([
      { column: 'error', message: 'names an imageUrl that is not an http or https URL' },
    ]);
  });

  it('refuses a job id by which the service cannot be asked', async () => {
    const text = jsonLines({ input: {}, error, millrace: { ...millrace, jobId: '..' } });
    const [row] = await readInvalid(text, { format: 'jsonl' });
    expect(row?.problems).toEqual([{ column: 'error', message: 'names a jobId that is not an id of a job' }]);
  });
});

describe('readManifest of a job id', () => {
  it.each(['..', '.', 'x'.repeat(1_001)])('refuses one that can name no job: %j', async (jobId) => {
    const [row] = await readInvalid(jsonLines({ jobId, endpoint: 'e' }), { format: 'jsonl' });
    expect(row?.problems).toMatchObject([{ column: 'jobId' }]);
  });

  it('collects the job and sends nothing', async () => {
    const [row] = await readRows('jobId,endpoint,title\nsync-1-e2,other,x\n');
    expect(row).toMatchObject({
      kind: 'job',
      endpoint: 'other',
      mode: 'async',
      jobId: 'sync-1-e2',
      columns: { title: 'x' },
    });
    expect(row?.id).toBe(row?.hash.slice(0, 12));
  });

  it('tells two job ids apart', async () => {
    const rows = await readRows('jobId\na\nb\n');
    expect(new Set(rows.map(({ hash }) => hash)).size).toBe(2);
    expect(rows.map(({ repeat }) => repeat)).toEqual([undefined, undefined]);
  });
});

describe('readManifest takes its time', () => {
  it('reads no further than its rows are asked for', async () => {
    let pulled = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('images,prompt\n');
      for (;;) {
        pulled++;
        yield Buffer.from(`${url},x\n`.repeat(100));
      }
    }
    const rows = readManifest(source(), settings);
    for (let count = 0; count < 150; count++) await rows.next();
    expect(pulled).toBeLessThanOrEqual(3);
    await rows.return?.();
  });

  it('makes a row when it is asked for', async () => {
    let looked = 0;
    const resolveImage = (path: string): string => `http://h/${path}?${++looked}`;
    const text = `images,prompt\n${Array.from({ length: 100 }, (_, at) => `${at}.png,x\n`).join('')}`;
    const rows = readManifest(inChunks(Buffer.from(text)), { ...settings, resolveImage });
    await rows.next();
    await rows.next();
    expect(looked).toBe(2);
  });

  it('lets go of its source when it is left', async () => {
    let ended = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.from(`images,prompt\n${url},x\n`.repeat(10_000));
      } finally {
        ended = true;
      }
    }
    for await (const item of readManifest(source(), settings) as AsyncIterable<ManifestItem>)
      if (item.row.row > 3) break;
    expect(ended).toBe(true);
  });

  it.each(['csv', 'jsonl'] as const)('holds little of a line of 100 MB (%s) [fault 24]', async (format) => {
    let pulled = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(format === 'csv' ? 'id,prompt\na,"' : '{"id":"');
      const chunk = Buffer.alloc(1_000_000, 'x');
      for (; pulled < 100; pulled++) yield chunk;
    }
    const rows = readManifest(source(), { ...settings, format });
    await expect(rows.next()).rejects.toThrow('longer than 10 MB');
    expect(pulled).toBeLessThan(13);
  });

  it('holds little of a line of 100 million commas', async () => {
    let pulled = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('id,prompt\n');
      const chunk = Buffer.alloc(1_000_000, ',');
      for (; pulled < 100; pulled++) yield chunk;
    }
    await expect(readManifest(source(), settings).next()).rejects.toThrow(
      'edits.csv, line 2: the row that begins here has more than 100000 cells',
    );
    expect(pulled).toBeLessThan(3);
  });
});
