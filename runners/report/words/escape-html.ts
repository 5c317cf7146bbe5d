const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for an element or a quoted attribute. Control and direction-changing characters become visible signs. */
export function escapeHtml(text: string): string {
  return visibleText(text).replace(/[&<>"']/g, (mark) => entities[mark] ?? mark);
}

/** Control characters and those that turn the reading direction, written out: NUL → `\x00`. Line feeds and tabs stay. */
export function visibleText(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/g,
    (mark) => {
      const code = mark.charCodeAt(0);
      return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`;
    },
  );
}
