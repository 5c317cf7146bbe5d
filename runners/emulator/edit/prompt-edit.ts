/** An edit that a prompt names. */
export interface PromptEdit {
  name: EditName;
  /** Degrees, per cent, pixels at 1k or levels, as the edit has it. */
  amount?: number | undefined;
  /** A colour as `#rrggbb`. */
  colour?: string | undefined;
  /** What to write. */
  text?: string | undefined;
}

export type EditName =
  | Geometry
  | Arrangement
  | 'grayscale'
  | 'sepia'
  | 'invert'
  | 'warm'
  | 'cool'
  | 'blur'
  | 'sharpen'
  | 'brighten'
  | 'darken'
  | 'contrast'
  | 'saturate'
  | 'hue'
  | 'tint'
  | 'pixelate'
  | 'posterize'
  | 'vignette'
  | 'border'
  | 'caption';

/** Turns each reference picture before they are combined. */
export type Geometry = 'rotate' | 'flip' | 'mirror';

/** How several pictures are combined, instead of tidy rows. */
export type Arrangement = 'side-by-side' | 'stack' | 'blend' | 'inset';
