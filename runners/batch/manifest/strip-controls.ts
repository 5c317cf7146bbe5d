/** Control characters, and those that turn the direction of text around: a terminal must not obey a manifest. */
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Makes text from a manifest fit for one line of a terminal: each control character becomes `?`. */
export function stripControls(text: string): string {
  return text.replace(controls, '?');
}
