import sharp from 'sharp';

const scenes = [
  ['#f3c9a5', '#e8895f', '#7b4a34', '#fff0d8'],
  ['#cfe3ec', '#8fb6cc', '#41606f', '#ffffff'],
  ['#e9e2d3', '#c7b79a', '#8a7352', '#fffaf0'],
  ['#27313f', '#4b5f7c', '#141a22', '#f5d58a'],
  ['#d8e6cf', '#9fbf8b', '#4d6b3f', '#fdfbe9'],
  ['#f6d7dd', '#e39aab', '#8f4a5c', '#fff5f2'],
  ['#fbe7a8', '#f0b84a', '#8b5c14', '#fffdf2'],
  ['#ddd5ee', '#a996d2', '#514275', '#fbf7ff'],
] as const;

const subjects = [
  // mug
  '<path d="M34 38h28v26a8 8 0 0 1-8 8H42a8 8 0 0 1-8-8z" fill="S"/><path d="M62 44h4a7 7 0 0 1 0 16h-4" fill="none" stroke="S" stroke-width="4"/><ellipse cx="48" cy="38" rx="14" ry="3.4" fill="L"/>',
  // bottle
  '<path d="M44 22h8v12c0 4 7 6 7 14v24a3 3 0 0 1-3 3H40a3 3 0 0 1-3-3V48c0-8 7-10 7-14z" fill="S"/><rect x="37" y="52" width="22" height="13" fill="L"/><rect x="43" y="18" width="10" height="5" rx="1.5" fill="D"/>',
  // lamp
  '<path d="M36 22h24l8 24H28z" fill="S"/><rect x="46.500" y="46" width="3" height="24" fill="D"/><ellipse cx="48" cy="72" rx="13" ry="3.500" fill="D"/>',
  // plant
  '<path d="M36 54h24l-4 20H40z" fill="S"/><path d="M48 54C30 50 28 34 30 24c12 4 18 16 18 30zM48 54c14-6 20-18 18-32-12 6-20 18-18 32zM48 54c-4-14-2-28 2-36 6 10 6 24-2 36z" fill="D"/>',
  // chair
  '<path d="M34 20h6v30h22a4 4 0 0 1 4 4v4H34z" fill="S"/><path d="M35 58l-4 17M64 58l4 17M42 58l-1 15M58 58l1 15" stroke="D" stroke-width="3" stroke-linecap="round"/>',
  // clock
  '<circle cx="48" cy="48" r="24" fill="S"/><circle cx="48" cy="48" r="19" fill="L"/><path d="M48 35v13l9 6" fill="none" stroke="D" stroke-width="3" stroke-linecap="round"/>',
  // vase
  '<path d="M42 26h12c0 8-3 9-3 13 0 6 13 8 13 21 0 8-6 15-16 15s-16-7-16-15c0-13 13-15 13-21 0-4-3-5-3-13z" fill="S"/><path d="M34 55c8 5 20 5 28 0" fill="none" stroke="L" stroke-width="2.500"/>',
  // bag
  '<path d="M30 42h36l4 30a3 3 0 0 1-3 3H29a3 3 0 0 1-3-3z" fill="S"/><path d="M38 46V36a10 10 0 0 1 20 0v10" fill="none" stroke="D" stroke-width="3.500"/><rect x="42" y="54" width="12" height="8" rx="1.500" fill="L"/>',
] as const;

const colours = ['#b8452f', '#2f6690', '#d9a441', '#3d7a5a', '#7a4b6b', '#c96f4a', '#465a7d', '#98a08a'];

/** What is drawn: a thing (0–7), alone on grey as a shop would photograph it, or in one of eight scenes. */
export interface Drawing {
  subject: number;
  background?: number;
  width: number;
  height: number;
  format?: 'png' | 'jpeg';
}

/** A small still life, for tests and samples that need pictures somebody can tell apart. */
export async function drawPicture(drawing: Drawing): Promise<Buffer> {
  const { subject, background, width, height, format = 'png' } = drawing;
  const image = sharp(Buffer.from(still(subject, background, width, height)));
  return format === 'png'
    ? image.png({ compressionLevel: 4 }).toBuffer()
    : image.jpeg({ quality: 82 }).toBuffer();
}

function still(subject: number, background: number | undefined, width: number, height: number): string {
  const [sky, ground, dark, light] =
    background === undefined
      ? ['#ecebe8', '#dcdad5', '#3b3a38', '#ffffff']
      : scenes[background % scenes.length]!;
  const size = Math.min(width, height) * 1.05;
  const place = `translate(${(width - size) / 2} ${height * 0.53 - size / 2}) scale(${size / 96})`;
  const body = subjects[subject % subjects.length]!.replaceAll(
    '"S"',
    `"${colours[subject % colours.length]!}"`,
  )
    .replaceAll('"L"', '"#f7f1e4"')
    .replaceAll('"D"', `"${background === undefined ? '#3b3a38' : '#2b2a28'}"`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <defs><linearGradient id="s" x2="0" y2="1"><stop stop-color="${sky}"/><stop offset="1" stop-color="${light}"/></linearGradient>
    <linearGradient id="g" x2="0" y2="1"><stop stop-color="${ground}"/><stop offset="1" stop-color="${dark}" stop-opacity=".75"/></linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#s)"/>${background === undefined ? '' : backdrop(background, width, height, light, dark)}
    <rect y="${height * 0.68}" width="100%" height="40%" fill="url(#g)"/>
    <ellipse cx="${width / 2}" cy="${height * 0.53 + size * 0.285}" rx="${size * 0.26}" ry="${size * 0.035}" fill="#000" opacity=".28"/>
    <g transform="${place}">${body}</g></svg>`;
}

function backdrop(background: number, width: number, height: number, light: string, dark: string): string {
  const sun = `<circle cx="${width * 0.76}" cy="${height * 0.24}" r="${height * 0.12}" fill="${light}" opacity=".9"/>`;
  const window = `<g opacity=".35" fill="${light}"><rect x="${width * 0.1}" y="${height * 0.1}" width="${width * 0.15}" height="${height * 0.42}"/><rect x="${width * 0.27}" y="${height * 0.1}" width="${width * 0.15}" height="${height * 0.42}"/></g>`;
  const hills = `<path d="M0 ${height * 0.69} Q ${width * 0.25} ${height * 0.45} ${width * 0.5} ${height * 0.66} T ${width} ${height * 0.58} V ${height * 0.7} H 0z" fill="${dark}" opacity=".35"/>`;
  return [sun + hills, window, sun, window + hills][background % 4]!;
}
