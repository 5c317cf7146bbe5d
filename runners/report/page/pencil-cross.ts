import { drawing } from './dom.js';

/** The red grease pencil of whoever goes over a contact sheet. */
export function pencilCross(): SVGElement {
  return drawing(
    'pencil',
    'M7 11C22 24 41 45 58 62 70 73 82 84 94 91',
    'M92 8C78 24 60 41 44 57 31 69 19 81 8 93',
  );
}
