import { crc32 } from 'node:zlib';
import type { PictureStore, StoredFormat } from '../picture-store.js';
import type { QueueFunction } from '../settings/user-functions.js';

/** The queue endpoint whose outputs are files other than pictures. */
export const sampleFilesId = 'sample-files';

interface SampleNeeds {
  readonly pictures: PictureStore;
  readonly urlOf: (name: string) => string;
}

const mostSeconds = 600;
const cost = 0.01;

/**
 * Returns a video, a sound, a PDF and an archive, all valid and tiny, under `video_url`, `audio_url`, `document_url`
 * and `archive_url`, and all of them under `files[].url`. `seconds` makes the sound longer (176 kB each), `text` is
 * printed in the PDF and packed into the archive.
 */
export function createSampleFunction({ pictures, urlOf }: SampleNeeds): QueueFunction {
  return async ({ seconds = 1, text = 'millrace' }) => {
    const length = typeof seconds === 'number' ? seconds : Number.NaN;
    if (!(length > 0 && length <= mostSeconds))
      throw Object.assign(new Error(`seconds must be a number above 0, up to ${mostSeconds}`), {
        status: 400,
      });
    const words = typeof text === 'string' ? text : JSON.stringify(text);
    const add = async (bytes: Buffer, format: StoredFormat): Promise<string> =>
      urlOf(await pictures.add(bytes, format));
    const urls = {
      video_url: await add(sampleVideo, 'webm'),
      audio_url: await add(sampleSound(length), 'wav'),
      document_url: await add(samplePdf(words), 'pdf'),
      archive_url: await add(sampleZip('text.txt', Buffer.from(words)), 'zip'),
    };
    return { ...urls, files: Object.values(urls).map((url) => ({ url })), cost };
  };
}

const samplesASecond = 44_100;

/** A tone of 440 Hz in stereo, as WAV. */
function sampleSound(seconds: number): Buffer {
  const samples = Math.ceil(seconds * samplesASecond);
  const period = Buffer.alloc(samplesASecond * 4);
  for (let n = 0; n < samplesASecond; n++) {
    const value = Math.round(Math.sin((n / samplesASecond) * 440 * 2 * Math.PI) * 6_000);
    period.writeInt16LE(value, n * 4);
    period.writeInt16LE(value, n * 4 + 2);
  }
  const head = Buffer.from('RIFF\0\0\0\0WAVEfmt ', 'latin1');
  const format = Buffer.alloc(28);
  format.writeUInt32LE(16, 0);
  format.writeUInt16LE(1, 4);
  format.writeUInt16LE(2, 6);
  format.writeUInt32LE(samplesASecond, 8);
  format.writeUInt32LE(samplesASecond * 4, 12);
  format.writeUInt16LE(4, 16);
  format.writeUInt16LE(16, 18);
  format.write('data', 20, 'latin1');
  format.writeUInt32LE(samples * 4, 24);
  head.writeUInt32LE(36 + samples * 4, 4);
  return Buffer.concat([head, format, Buffer.alloc(samples * 4, period)]);
}

/** One page with a line of text. */
function samplePdf(text: string): Buffer {
  const shown = text
    .replace(/[^ -~]/g, '?')
    .replace(/[\\()]/g, '\\$&')
    .slice(0, 80);
  const content = `BT /F1 18 Tf 20 60 Td (${shown}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 120] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let body = '%PDF-1.4\n';
  const places = objects.map((object, index) => {
    const place = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(`${body}${table}${trailer}`, 'latin1');
}

/** One file, stored as it is. */
function sampleZip(name: string, content: Buffer): Buffer {
  const facts = Buffer.alloc(26);
  facts.writeUInt16LE(20, 0);
  facts.writeUInt32LE(crc32(content), 10);
  facts.writeUInt32LE(content.length, 14);
  facts.writeUInt32LE(content.length, 18);
  facts.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), facts, Buffer.from(name), content]);
  const place = Buffer.alloc(14);
  const entry = Buffer.concat([Buffer.from('PK\x01\x02\x14\0', 'latin1'), facts, place, Buffer.from(name)]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(entry.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, entry, Buffer.from('PK\x05\x06', 'latin1'), end]);
}

/** A ball that crosses a window: a WebM of a second, 96 by 64 pixels, recorded from a canvas. */
export const sampleVideo = Buffer.from(
  'GkXfo59ChoEBQveBAULygQRC84EIQoKEd2VibUKHgQRChYECGFOAZwEAAAAAAAWlEU2bdLlNu4tTq4QVSalmU6yBbk27i1OrhBZUrmtT' +
    'rIGTTbuLU6uEH0O2dVOsgcFNu4xTq4QcU7trU6yCBZPsrgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' +
    'AAAVSalmoCrXsYMPQkBEiYREZQmaTYCGQ2hyb21lV0GGQ2hyb21lFlSua6mup9eBAXPFhx3e/veHVA2DgQFV7oEBhoVWX1ZQOOCKsIFg' +
    'uoFAU8CBAR9DtnUBAAAAAAAExueBAKBAuaFAhIEAAADQBQCdASpgAEAABwcIhYWImYSIJYIC7M8xGUNweKRYVcDS27aGal+H4T/tIPcV' +
    'suWE+nmcRP3eYP7d/V5cRhwFTBsxFhVkfFU32KyTGgE/sWlbyxH7YK9eW9VguwnGesxcGJXUe4U3Do3nHvNyDWCY7E6cQ2VLFrjANknm' +
    'Yl5JgHWhr6at7oEBpahQAwCdASpgAEAACocIhYWImYSIOAIABkwnzp06dOnTp06dN8D+664AoN+hvoEAYwBRAwAYETwAGAAeUu/0ACnw' +
    'M6Fq8EFqJWG1lrV+8P7d/V5cRhxAr7JL1rmWWH/mww8J1vepiM4y6AAAdaGZppfugQGlktEBACoRwAAYABhYL/QACIUoAPuBAKBAgKHf' +
    'gQDIABEEABoQ9AAew2nuGuBwv8J7o1cEA5SHJoVw3sMOPhxTZD+g/uLBJiOteW6yMoQ6cE6OSe6eSRwessPawmFcbGkHLfNyE+xLHrGq' +
    'DCGdbJ2Xlur1OKoWIDYgAAB1oZmml+6BAaWS0QEAKhG8ABgAGFgv9AAIhSgA+4FjoNqhuYEBLABRAwAYEOQAGAAdS/f0ACO8e7UU50wH' +
    'ivkV2d2OAP7k7/k7wSC9h6p8Xf51CHoAGF1V+pEQAHWhmaaX7oEBpZLRAQAqEZgAGAAYWC/0AAiFKAD7gcig56HFgQGUAHEDABYQwAAY' +
    'DQkLH2JbkBAJ3CYx6CrvIsyElYutIP7oKbTVfryONwOu8UugDPoA8IhrjCXKy78NMFEumEUdILgAdaGZppfugQGlktEBACoRbAAYABhY' +
    'L/QACIUoAPuCASyg+KHWgQH4ALEDABQQnAAa9NR/AQlhk/xIDItdedAix/KBHwtvHNgA/urLHoVa//r5isSmOrvil1N/Tsko1UXv4pEx' +
    '0wQhgJAauk7FMjKkIK6UHM60eVyBYAB1oZmml+6BAaWS0QEAKhFMABgAGFgv9AAIhSgA+4IBlKD1odOBAl0AsQMAFhCEABjuzAl/4OEN' +
    'f6MA8yqkB0CHS3Qjgvr1mAD+7Lby8P2f/QqIz6alFQuxovRSfh64Ah1F0CToueTVx3wOtkvBjGX9QvhLnAqgAHWhmaaX7oEBpZLRAQAq' +
    'ESAAGAAYWC/0AAiFKAD7ggH4oO+hzYECwQAxAwAWEGwAGAAeUf/0ACfVrrzoEWEba4Y+lAwA/u5yJ12Yp/8b4NzeJQxUe1OfjbMdu7aN' +
    'J286sAmuRz+m14lnpJlgZqZYSBwAdaGZppfugQGlktEBACoRLBRgAGFgv9AAIhSgAPuCAl2g/qHcgQMlAHEDABYQWAAYC49ezBMvLXgg' +
    'FnVWCDWSygbq+gY+AP7vc6WpJDxf/sXFvOVHuekjijb8HdYgj/6rZTANui+hfTL47bgBpnGeRds+Gw2aDIRYDb6qYaGU0gB1oZmml+6B' +
    'AaWS0QEAKhEMABgAGFgv9AAIhSgA+4ICwaD6odiBA5QAUQMAFhBMABgEOABsXT7RhGvHAbebwok7CZgcCeDIX4u1Phw6nH3YzGYKej4g' +
    'PX079fA0GDvNVzkJvTYHQUmL+YBREEyVSIl3hThwnKHoTRIxJQAAdaGZppfugQGlktEBACoQ8AAYABhYL/QACIUoAPuCAyUcU7trjbuL' +
    's4EAt4b3gQHxgcE=',
  'base64',
);
