import type { JsonObject } from '../read/read-jsonl.js';

/** The wording of an error without what differs from row to row: two rows with the same cause fail for the same reason. */
export function causeOf(error: JsonObject): string {
  const text = typeof error['message'] === 'string' ? error['message'] : '';
  return text
    .slice(0, 600)
    .replace(/\b(https?:\/\/[^/\s"'<>]+)[^\s"'<>]*?(?=[.,;:!?)]*(?:[\s"'<>]|$))/gi, '$1/…')
    .replace(/\bdata:[\w.+-]+\/[\w.+-]+;base64,[\w+/=]*/g, 'data:…')
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{8,}\b/gi, '…')
    .replace(/\b(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{8,}\b/gi, '…')
    .replace(/(?<![a-z\d]|HTTP )(?![45]\d\d [A-Z])\d+(?:[.,]\d+)*/gi, '…')
    .replace(/…(?:[-:./]…)+/g, '…')
    .replace(/\s+/g, ' ')
    .trim();
}
