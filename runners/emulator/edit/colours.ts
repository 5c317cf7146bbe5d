/** Colours that a prompt may name; `#rgb` and `#rrggbb` are understood as well. */
export const colours = {
  black: '#000000',
  white: '#ffffff',
  gray: '#808080',
  grey: '#808080',
  silver: '#c0c0c0',
  red: '#e53935',
  orange: '#fb8c00',
  gold: '#d4af37',
  yellow: '#fdd835',
  green: '#43a047',
  teal: '#00897b',
  cyan: '#00acc1',
  blue: '#1e88e5',
  navy: '#1a237e',
  purple: '#8e24aa',
  violet: '#7e57c2',
  magenta: '#d81b9a',
  pink: '#f48fb1',
  brown: '#6d4c41',
  beige: '#f5f5dc',
} as const;

/** A pattern that matches the name of a colour or its hex digits. */
export const colourPattern = `(?:#[0-9a-f]{6}|#[0-9a-f]{3}|\\b(?:${Object.keys(colours).join('|')})\\b)`;

/** `gold` → `#d4af37`, `#f80` → `#ff8800`. */
export function toHex(colour: string): string {
  const name = colour.toLowerCase();
  if (Object.hasOwn(colours, name)) return colours[name as keyof typeof colours];
  return name.length === 4 ? name.replace(/[0-9a-f]/g, '$&$&') : name;
}
