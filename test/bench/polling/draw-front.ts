import { scaleLog } from 'd3-scale';
import { line } from 'd3-shape';

export interface FrontCurve {
  readonly name: string;
  readonly points: readonly { calls: number; lagS: number }[];
}

const size = { width: 720, height: 440, left: 64, right: 150, top: 44, bottom: 52 };
const colours = ['#1b7f5c', '#c2410c', '#5b6b7f', '#8b5cf6'];

/** Calls a job against mean lag on log scales, one curve a policy: nearer to the corner is better. */
export function drawFront(title: string, curves: readonly FrontCurve[]): string {
  const x = scaleLog([0.1, 6], [size.left, size.width - size.right]).clamp(true);
  const y = scaleLog([1, 30], [size.height - size.bottom, size.top]).clamp(true);
  const path = line<{ calls: number; lagS: number }>(
    (point) => x(point.lagS),
    (point) => y(point.calls),
  );
  const xTicks = [0.1, 0.2, 0.5, 1, 2, 5].map(
    (tick) =>
      `<line x1="${x(tick)}" x2="${x(tick)}" y1="${size.top}" y2="${size.height - size.bottom}" stroke="#e5e7eb"/>` +
      `<text x="${x(tick)}" y="${size.height - size.bottom + 18}" text-anchor="middle">${tick} s</text>`,
  );
  const yTicks = [1, 2, 5, 10, 20].map(
    (tick) =>
      `<line x1="${size.left}" x2="${size.width - size.right}" y1="${y(tick)}" y2="${y(tick)}" stroke="#e5e7eb"/>` +
      `<text x="${size.left - 8}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`,
  );
  const drawn = curves.map(({ name, points }, index) => {
    const colour = colours[index % colours.length] ?? '#000';
    const dots = points.map(
      (point) => `<circle cx="${x(point.lagS)}" cy="${y(point.calls)}" r="3" fill="${colour}"/>`,
    );
    const label = `<text x="${size.width - size.right + 14}" y="${size.top + 20 + index * 22}" fill="${colour}">${name}</text>`;
    return `<path d="${path([...points]) ?? ''}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}${label}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="${size.left}" y="24" font-size="14" font-weight="600">${title}</text>`,
    ...xTicks,
    ...yTicks,
    `<text x="${(size.left + size.width - size.right) / 2}" y="${size.height - 12}" text-anchor="middle">mean lag after the end of a job</text>`,
    `<text transform="translate(18 ${size.height / 2}) rotate(-90)" text-anchor="middle">status calls a job</text>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}
