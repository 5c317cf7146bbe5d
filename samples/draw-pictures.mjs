// Draws the pictures that the sample manifests edit: node samples/draw-pictures.mjs
// The same bytes of SVG every time; each file stays under 100 kB.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';

const folder = fileURLToPath(new URL('pictures/', import.meta.url));

/** Chance that is the same each time. */
function dice(seed) {
  let state = seed;
  return (from = 0, to = 1) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return from + (state / 2 ** 32) * (to - from);
  };
}

function times(count, draw) {
  return Array.from({ length: count }, (_, index) => draw(index)).join('');
}

function sky(id, ...stops) {
  const colours = stops.map(([at, colour]) => `<stop offset="${at}" stop-color="${colour}"/>`).join('');
  return `<linearGradient id="${id}" x1="0" y1="0" x2="0" y2="1">${colours}</linearGradient>`;
}

/** A mountain range as a polygon from the left edge to the right. */
function ridge(roll, width, base, height, step, fill) {
  let points = `0,${base}`;
  for (let x = 0; x <= width + step; x += step)
    points += ` ${x.toFixed(0)},${(base - roll(0.25, 1) * height * (Math.round(x / step) % 2 ? 1 : 0.45)).toFixed(0)}`;
  return `<polygon points="${points} ${width + step},${base + 400} 0,${base + 400}" fill="${fill}"/>`;
}

function lake() {
  const roll = dice(7);
  const sun = { x: 610, y: 300 };
  const glitter = times(60, () => {
    const y = roll(408, 590);
    const spread = (y - 400) * 0.9 + 14;
    const x = sun.x + roll(-spread, spread);
    return `<rect x="${(x - 24).toFixed(0)}" y="${y.toFixed(0)}" width="${roll(14, 60).toFixed(0)}" height="3" rx="1.5" fill="#ffe3a8" opacity="${roll(0.25, 0.8).toFixed(2)}"/>`;
  });
  return [
    900,
    600,
    `<defs>${sky('s', [0, '#2b2d6e'], [0.4, '#b3507a'], [0.72, '#ff9e6d'], [1, '#ffd9a0'])}${sky('w', [0, '#e88b6f'], [0.3, '#93487a'], [1, '#24234f'])}</defs>
    <rect width="900" height="600" fill="url(#s)"/>
    <circle cx="${sun.x}" cy="${sun.y}" r="120" fill="#ffe9b8" opacity=".25"/><circle cx="${sun.x}" cy="${sun.y}" r="58" fill="#fff3cf"/>
    ${ridge(roll, 900, 400, 210, 75, '#7a4a86')}${ridge(roll, 900, 402, 130, 56, '#4f3470')}${ridge(roll, 900, 404, 60, 36, '#2d2250')}
    <rect y="400" width="900" height="200" fill="url(#w)"/>${glitter}
    ${times(26, (i) => pine(roll(-20, 250) + (i % 2) * 16, 600, roll(90, 230) * (1 - i / 60), '#15132f'))}
    ${times(12, () => pine(roll(800, 920), 605, roll(80, 170), '#15132f'))}`,
  ];
}

function pine(x, foot, height, fill) {
  const layers = times(4, (i) => {
    const top = foot - height + (height * i) / 4.6;
    const half = (height / 13) * (i + 1.3);
    return `<polygon points="${x},${top.toFixed(0)} ${(x + half).toFixed(0)},${(top + height / 3).toFixed(0)} ${(x - half).toFixed(0)},${(top + height / 3).toFixed(0)}"/>`;
  });
  return `<g fill="${fill}">${layers}<rect x="${x - height / 40}" y="${foot - height / 6}" width="${height / 20}" height="${height / 6}"/></g>`;
}

function boat() {
  const roll = dice(21);
  const waves = times(7, (row) => {
    const y = 392 + row * 30;
    const dx = (row * 47) % 90;
    const path = times(13, (i) => `q 22 ${-12 - row} 45 0 t 45 0`);
    return `<path d="M${-dx} ${y} ${path} V640 H-90 Z" fill="hsl(${196 + row * 3} 62% ${58 - row * 6}%)"/>`;
  });
  const clouds = times(5, () => cloud(roll(40, 860), roll(50, 190), roll(0.5, 1.1)));
  return [
    900,
    600,
    `<defs>${sky('s', [0, '#5db7e8'], [1, '#e3f6fb'])}</defs><rect width="900" height="600" fill="url(#s)"/>
    <circle cx="740" cy="110" r="52" fill="#fff4b0"/>${clouds}
    <g transform="translate(400 352) rotate(-4)"><rect x="-6" y="-300" width="10" height="310" fill="#6d4325"/>
    <path d="M10 -296 C 150 -190 170 -90 160 -30 L10 -30 Z" fill="#fffaf0"/><path d="M-12 -270 C -90 -180 -118 -90 -120 -30 L-12 -30 Z" fill="#e4572e"/>
    <path d="M10 -200 L120 -200 M10 -120 L156 -120" stroke="#d8cfc0" stroke-width="4"/><path d="M4 -300 l54 -14 l-54 -14 z" fill="#e4572e"/>
    <path d="M-170 -8 H190 C 170 52 130 66 90 66 H-80 C -130 66 -158 40 -170 -8 Z" fill="#17496b"/><path d="M-170 -8 H190 L184 12 H-164 Z" fill="#f3c13a"/></g>${waves}`,
  ];
}

function cloud(x, y, size) {
  return `<g transform="translate(${x.toFixed(0)} ${y.toFixed(0)}) scale(${size.toFixed(2)})" fill="#fff" opacity=".9"><ellipse rx="70" ry="24"/><circle cx="-26" cy="-18" r="30"/><circle cx="18" cy="-26" r="36"/></g>`;
}

function city() {
  const roll = dice(3);
  const stars = times(
    90,
    () =>
      `<circle cx="${roll(0, 960).toFixed(0)}" cy="${roll(0, 300).toFixed(0)}" r="${roll(0.6, 2).toFixed(1)}" fill="#fff" opacity="${roll(0.3, 1).toFixed(2)}"/>`,
  );
  const tower = (x, width, height, fill, lit) => {
    const windows = times(Math.floor(height / 26) * Math.floor(width / 20), (i) => {
      const column = i % Math.floor(width / 20);
      const row = Math.floor(i / Math.floor(width / 20));
      if (roll() > lit) return '';
      return `<rect x="${x + 6 + column * 20}" y="${540 - height + 12 + row * 26}" width="10" height="14" fill="${roll() > 0.25 ? '#ffd36b' : '#9fe3ff'}"/>`;
    });
    return `<rect x="${x}" y="${540 - height}" width="${width}" height="${height}" fill="${fill}"/>${windows}`;
  };
  let back = '';
  for (let x = -10; x < 960; x += 62) back += tower(x, 60, Math.round(roll(130, 300)), '#26306b', 0.18);
  let front = '';
  for (let x = -30; x < 960; x += 94) front += tower(x, 80, Math.round(roll(90, 380)), '#121638', 0.6);
  return [
    960,
    540,
    `<defs>${sky('s', [0, '#0a0f33'], [0.6, '#35296b'], [1, '#a3477f'])}</defs><rect width="960" height="540" fill="url(#s)"/>${stars}
    <path d="M778 54 A58 58 0 1 0 826 128 A50 50 0 1 1 778 54Z" fill="#fdf6d8"/>${back}${front}`,
  ];
}

function fruit() {
  const roll = dice(11);
  const apple = (x, y, r, fill) =>
    `<g transform="translate(${x} ${y})"><circle r="${r}" fill="${fill}"/><ellipse cx="${-r * 0.35}" cy="${-r * 0.4}" rx="${r * 0.22}" ry="${r * 0.34}" fill="#fff" opacity=".4" transform="rotate(25)"/><path d="M0 ${-r * 0.92} q 4 -26 16 -34" stroke="#5b3a1e" stroke-width="7" fill="none" stroke-linecap="round"/><path d="M8 ${-r - 10} q 34 -28 56 -2 q -30 20 -56 2z" fill="#5c9e3d"/></g>`;
  const grapes = times(
    17,
    (i) =>
      `<circle cx="${505 + (i % 4) * 36 + (Math.floor(i / 4) % 2) * 16}" cy="${375 + Math.floor(i / 4) * 29}" r="22" fill="hsl(${282 + roll(-8, 10)} 42% ${36 + roll(0, 12)}%)"/>`,
  );
  return [
    800,
    800,
    `<defs>${sky('s', [0, '#f6d9b8'], [1, '#eab98a'])}</defs><rect width="800" height="800" fill="url(#s)"/>
    <rect y="560" width="800" height="240" fill="#8d5a3a"/>${times(9, (i) => `<path d="M0 ${582 + i * 26} q 200 ${roll(-14, 14).toFixed(0)} 400 0 t 400 0" stroke="#7a4a2d" stroke-width="4" fill="none"/>`)}
    <ellipse cx="400" cy="676" rx="290" ry="34" fill="#000" opacity=".22"/>
    ${apple(300, 410, 92, '#d7372f')}${apple(455, 350, 86, '#e9b52f')}${grapes}<path d="M180 396 q -30 -120 46 -186 q 12 120 108 176 q 20 66 -50 90 z" fill="#f7d64a"/><path d="M196 392 q -22 -96 26 -150" stroke="#c7a021" stroke-width="6" fill="none"/>
    <path d="M120 452 H680 C 676 600 560 680 400 680 C 240 680 124 600 120 452 Z" fill="#2f6f8f"/><path d="M120 452 H680 q 0 30 -6 50 H126 q -6 -20 -6 -50z" fill="#3f8bb0"/>${times(8, (i) => `<circle cx="${190 + i * 60}" cy="560" r="13" fill="#f2e3c6"/>`)}`,
  ];
}

function cat() {
  return [
    640,
    800,
    `<defs><radialGradient id="b" cx=".5" cy=".38" r=".8"><stop offset="0" stop-color="#fbe3c4"/><stop offset="1" stop-color="#4a9c8f"/></radialGradient></defs>
    <rect width="640" height="800" fill="url(#b)"/>
    <path d="M150 800 C 130 600 200 520 320 520 C 440 520 510 600 490 800 Z" fill="#e58b3a"/><path d="M250 800 C 250 680 270 620 320 620 C 370 620 390 680 390 800 Z" fill="#fff1dc"/>
    <path d="M140 330 L150 120 L290 210 Z M500 330 L490 120 L350 210 Z" fill="#e58b3a"/><path d="M172 250 L174 172 L236 214 Z M468 250 L466 172 L404 214 Z" fill="#f6b8a0"/>
    <ellipse cx="320" cy="370" rx="190" ry="172" fill="#ef9a48"/>
    <path d="M320 200 l-16 74 h32 z M256 214 l0 60 l24 0 z M384 214 l0 60 l-24 0 z M134 372 l74 10 l-70 18 z M506 372 l-74 10 l70 18 z" fill="#c96d22"/>
    <ellipse cx="320" cy="446" rx="92" ry="70" fill="#fff1dc"/>
    <g><ellipse cx="240" cy="356" rx="40" ry="44" fill="#f4f7c9"/><ellipse cx="400" cy="356" rx="40" ry="44" fill="#f4f7c9"/><ellipse cx="240" cy="360" rx="15" ry="36" fill="#23301f"/><ellipse cx="400" cy="360" rx="15" ry="36" fill="#23301f"/><circle cx="248" cy="340" r="8" fill="#fff"/><circle cx="408" cy="340" r="8" fill="#fff"/></g>
    <path d="M298 414 h44 l-22 26 z" fill="#d6606b"/><path d="M320 440 q 0 34 -40 34 M320 440 q 0 34 40 34" stroke="#7a4a2d" stroke-width="6" fill="none" stroke-linecap="round"/>
    <path d="M250 440 L110 414 M250 456 L104 462 M390 440 L530 414 M390 456 L536 462" stroke="#fffaf0" stroke-width="5" stroke-linecap="round"/>
    <path d="M196 560 q 124 60 248 0" stroke="#2f5fa8" stroke-width="26" fill="none"/><circle cx="320" cy="600" r="24" fill="#f3c13a"/>`,
  ];
}

function balloons() {
  const roll = dice(5);
  const balloon = (x, y, size, colours) => {
    const stripes = colours
      .map((colour, i) => {
        const wide = 100 * (1 - (i * 2) / (colours.length * 2));
        return `<path d="M0 130 C ${-wide * 1.1} 60 ${-wide * 1.1} -100 0 -110 C ${wide * 1.1} -100 ${wide * 1.1} 60 0 130Z" fill="${colour}"/>`;
      })
      .join('');
    return `<g transform="translate(${x} ${y}) scale(${size})">${stripes}<path d="M-22 122 L-16 166 M22 122 L16 166" stroke="#5b3a1e" stroke-width="3"/><rect x="-22" y="164" width="44" height="34" rx="6" fill="#8d5a3a"/></g>`;
  };
  return [
    600,
    900,
    `<defs>${sky('s', [0, '#3f7fd0'], [0.55, '#a8d8f0'], [1, '#ffe9c9'])}</defs><rect width="600" height="900" fill="url(#s)"/>
    ${times(6, () => cloud(roll(0, 600), roll(120, 640), roll(0.6, 1.2)))}
    ${balloon(220, 270, 1.25, ['#d7372f', '#f7d64a', '#d7372f', '#f7d64a'])}${balloon(462, 470, 0.8, ['#2c7a6b', '#f2f0e6', '#2c7a6b', '#f2f0e6'])}${balloon(120, 610, 0.5, ['#5e3b8c', '#f3a6c0', '#5e3b8c'])}
    ${ridge(roll, 600, 850, 120, 60, '#8fb069')}${ridge(roll, 600, 890, 80, 45, '#567d3f')}`,
  ];
}

function poster() {
  return [
    800,
    600,
    `<rect width="800" height="600" fill="#f4ecd8"/><circle cx="250" cy="240" r="170" fill="#d7372f"/><rect x="330" y="120" width="300" height="300" fill="#1c4e80"/><path d="M330 120 h300 l-300 300z" fill="#f3b61f"/>
    <circle cx="630" cy="420" r="110" fill="#111"/><circle cx="630" cy="420" r="70" fill="#f4ecd8"/><circle cx="630" cy="420" r="34" fill="#d7372f"/>
    ${times(7, (i) => `<rect x="60" y="${450 + i * 17}" width="${330 - i * 36}" height="8" fill="#111"/>`)}${times(5, (i) => `<path d="M${690 + i * 18} 40 v120" stroke="#111" stroke-width="7"/>`)}
    <path d="M80 420 L470 40" stroke="#111" stroke-width="9"/>`,
  ];
}

function desert() {
  const roll = dice(13);
  const cactus = (x, y, s) =>
    `<g transform="translate(${x} ${y}) scale(${s})" stroke="#2f7d4f" stroke-width="46" stroke-linecap="round" stroke-linejoin="round" fill="none"><path d="M0 0 V-260"/><path d="M0 -90 H-80 V-170"/><path d="M0 -130 H84 V-220"/></g>`;
  return [
    1000,
    560,
    `<defs>${sky('s', [0, '#f7b267'], [0.5, '#f79d65'], [1, '#f4845f'])}</defs><rect width="1000" height="560" fill="url(#s)"/><circle cx="260" cy="210" r="84" fill="#fff0c2"/>
    <path d="M560 400 V250 h40 l20 -40 h120 l24 40 h50 V400z M840 400 V300 l30 -30 h70 l30 40 V400z" fill="#b5523b"/>
    <path d="M0 400 Q 250 330 520 400 T 1000 390 V560 H0Z" fill="#e8a35c"/><path d="M0 460 Q 300 390 600 455 T 1000 440 V560 H0Z" fill="#d98a43"/>
    ${times(24, () => `<ellipse cx="${roll(0, 1000).toFixed(0)}" cy="${roll(470, 552).toFixed(0)}" rx="${roll(4, 14).toFixed(0)}" ry="4" fill="#b36c31"/>`)}
    ${cactus(170, 520, 0.9)}${cactus(640, 500, 0.5)}${cactus(880, 545, 0.8)}`,
  ];
}

const pictures = {
  'lake.jpg': lake,
  'boat.png': boat,
  'city.png': city,
  'fruit.jpg': fruit,
  'cat.png': cat,
  'balloons.jpg': balloons,
  'poster.png': poster,
  'desert.jpg': desert,
};

mkdirSync(folder, { recursive: true });
for (const [name, draw] of Object.entries(pictures)) {
  const [width, height, body] = draw();
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${body}</svg>`;
  const picture = sharp(Buffer.from(svg));
  const encoded = name.endsWith('.png')
    ? picture.png({ palette: true, quality: 90, effort: 10 })
    : picture.jpeg({ quality: 84, mozjpeg: true });
  const { size } = await encoded.toFile(folder + name);
  console.log(`${name} ${width} × ${height}, ${Math.ceil(size / 1000)} kB`);
}
