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

/** NUL → `␀`, ESC → `␛`; line feeds and tabs stay; what could turn the reading direction becomes `�`. */
export function visibleText(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (mark) => String.fromCharCode(0x2400 + mark.charCodeAt(0)))
    .replace(/[\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/g, '\ufffd');
}
