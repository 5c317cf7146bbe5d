import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signatureIn } from '../../../../runners/batch/uploads/picture-host.js';
import { redact } from '../../../../src/contract/redact.js';

const hash = 'a7'.repeat(32);
const signature = '5f'.repeat(32);
const query = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AK%2F20270101%2Feu-1%2Fs3%2Faws4_request&X-Amz-Date=20270101T000000Z&X-Amz-Expires=4500&X-Amz-Signature=${signature}&X-Amz-SignedHeaders=host`;

/** A text in which the signature of the picture is masked, as a reply is read. */
const read = (text: string, image: string) => redact(text, [signatureIn(image) ?? '']);

describe('the signature of an uploaded picture, found by its name', () => {
  const image = `s3://pics/my%20shop/1/${hash}.png#a.png`.replace('%20', ' ');
  const path = `my%20shop/1/${hash}.png`;

  it.each([
    ['behind the bucket', `http://127.0.0.1:9000/pics/${path}?${query}`],
    ['at the host of the bucket', `https://pics.s3.eu-1.amazonaws.com/${path}?${query}`],
  ])('is masked in a URL %s, in all ways of writing it', (_where, url) => {
    const html = url.replaceAll('&', '&amp;');
    const spellings = [
      JSON.stringify({ url }),
      JSON.stringify({ error: JSON.stringify({ text: `no ${url}\nnext`, urls: [url, 'https://b/c?d=e'] }) }),
      JSON.stringify({ url }).replaceAll('/', '\\/'),
      JSON.stringify({ url }).replaceAll('&', '\\u0026').replaceAll('=', '\\u003d'),
      JSON.stringify({ error: JSON.stringify({ url }).replaceAll('&', '\\u0026') }),
      JSON.stringify({ next: `https://proxy.test/?of=${encodeURIComponent(url)}` }),
      `<Error><Resource>${html}</Resource></Error>`,
      `GET ${url} 403`,
    ];
    for (const text of spellings) {
      const masked = read(text, image);
      expect(masked, text).not.toContain(signature.slice(0, 32));
      expect(masked, text).toContain('[redacted]');
      if (text.startsWith('{')) expect(() => JSON.parse(masked) as unknown, masked).not.toThrow();
    }
  });

  it.each([
    ['in another folder', `https://pics.s3.eu-1.amazonaws.com/out/${path}?${query}`],
    ['in another folder, behind the bucket', `http://127.0.0.1:9000/pics/out/${path}?${query}`],
    ['in a folder with the name of the bucket', `http://127.0.0.1:9000/out/pics/${path}?${query}`],
    ['in another bucket', `https://out-pics.s3.eu-1.amazonaws.com/${path}?${query}`],
    ['in another bucket of the path', `http://127.0.0.1:9000/out/${path}?${query}`],
    ['of another name', `http://127.0.0.1:9000/pics/my%20shop/1/${'b8'.repeat(32)}.png?${query}`],
    ['behind ours', `https://pics.s3.test/${path}?v=1,https://pics.s3.test/out.png?${query}`],
    ['below ours', `http://127.0.0.1:9000/pics/${path}/out.png?${query}`],
  ])('is no signature of an object %s', (_where, url) => {
    expect(read(JSON.stringify({ url }), image)).toBe(JSON.stringify({ url }));
  });

  it('is found without a prefix, and none for an image with its own URL', () => {
    const url = `https://pics.s3.test/${hash}.png?${query}`;
    expect(read(url, `s3://pics/${hash}.png#a b.png`)).toBe(url.replace(signature, '[redacted]'));
    expect(signatureIn(url)).toBeUndefined();
  });

  it('is masked behind the token of temporary credentials, which may be long', () => {
    const token = encodeURIComponent('/+='.repeat(900));
    const url = `https://pics.s3.test/${path}?X-Amz-Security-Token=${token}&${query}`;
    expect(read(JSON.stringify({ url }), image)).not.toContain(signature.slice(0, 32));
  });

  it('is masked among thousands of others, each in the time that it takes', () => {
    const urls = Array.from({ length: 1_000 }, () => {
      const other = randomBytes(32).toString('hex');
      return `https://pics.s3.test/${path}?${query.replace(signature, other)}`;
    });
    const began = process.cpuUsage().user;
    const masked = read(
      JSON.stringify({ error: JSON.stringify({ urls }).replaceAll('&', '\\u0026') }),
      image,
    );
    expect(process.cpuUsage().user - began).toBeLessThan(3_000_000);
    expect(masked).not.toMatch(/Signature(?:=|\\+u003d)[\da-f]{8}/);
    expect(masked.split('[redacted]')).toHaveLength(urls.length + 1);
    expect(() => JSON.parse(masked) as unknown).not.toThrow();
  });

  it('is looked for in a long row of backslashes, which was read again from each of them', () => {
    const began = process.cpuUsage().user;
    read('\\'.repeat(150_000), image);
    expect(process.cpuUsage().user - began).toBeLessThan(3_000_000);
  });

  it('is looked for in linear time', () => {
    const costOf = (part: string, length: number): number => {
      const before = process.cpuUsage().user;
      read(part.repeat(length), image);
      return process.cpuUsage().user - before;
    };
    for (const part of [
      `//pics.s3.test/${path}?`,
      'X-Amz-Signature=5f5f5f5f',
      `https://h/pics/${path}?${query} `,
      'iVBORw0KGgo/',
    ]) {
      const costs = Array.from({ length: 3 }, () => [costOf(part, 500), costOf(part, 2_000)] as const);
      const [short, long] = [0, 1].map((index) => Math.min(...costs.map((pair) => pair[index] ?? Infinity)));
      expect((long ?? Infinity) / Math.max(short ?? 0, 1_000), part).toBeLessThan(12);
    }
  });
});
