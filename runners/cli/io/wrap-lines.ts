import type { OutStream } from './cli-io.js';

/** The width of a stream; a terminal that does not know its width reports 0. */
export function columnsOf({ columns = 0 }: Pick<OutStream, 'columns'>): number {
  return columns > 0 ? columns : 80;
}

/**
 * Breaks long lines between words and keeps their indentation. A command on its own line is broken with a backslash, so that it
 * works when copied. Lines with escape sequences and JSON stay as they are.
 */
export function wrapLines(text: string, columns: number): string {
  if (/\u001b\[[\d;]*[A-HJKf]/.test(text)) return text;
  return linesOf(text)
    .map((line) => (widthOf(line) <= columns || /^[[{]/.test(line) ? line : wrapLine(line, columns)))
    .join('\n');
}

/** A command whose last argument is not closed yet: its text goes on in the next line. */
const openCommand = /^ *millrace(?: +(?:[^\s']+|'[^']*'(?:\\''[^']*')*))* +'[^']*(?:'\\''[^']*)*$/;

/** A command is one line, also where an argument holds line breaks: a backslash between these would become a part of it. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const before = lines.at(-1) ?? '';
    if (openCommand.test(before)) lines[lines.length - 1] = `${before}\n${line}`;
    else lines.push(line);
  }
  return lines;
}

/** How many columns a line takes without its colours. */
export function widthOf(line: string): number {
  return line.replace(/\u001b\[[\d;]*m/g, '').length;
}

function wrapLine(line: string, columns: number): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const isCommand = line.trimStart().startsWith('millrace ');
  const [room, hanging] = isCommand ? [columns - 2, `${indent}  `] : [columns, indent];
  const lines: string[] = [];
  let now = '';
  for (const word of wordsOf(line.slice(indent.length), isCommand ? argument : proseWord)) {
    const start = lines.length === 0 ? indent : hanging;
    if (now === '') now = start + word;
    else if (widthOf(now) + 1 + widthOf(word) <= room) now += ` ${word}`;
    else {
      lines.push(now);
      now = hanging + word;
    }
  }
  return [...lines, now].join(isCommand ? ' \\\n' : '\n');
}

/** An argument as a shell reads it: `'it'\''s here'` is one. */
const argument = /(?:\\.|'[^']*'|\S)+(?: {2,}(?=\S))?/g;
/** A command in backticks is one word: broken without a backslash, its first line would be run when it is pasted. */
const proseWord = /(?:`[^`]*`|\S)+(?: {2,}(?=\S))?/g;

/** Splits a line into words. Spaces between columns are kept. */
function wordsOf(text: string, word: RegExp): string[] {
  return text.match(word)?.map((one) => one.replace(/ +$/, (spaces) => spaces.slice(1))) ?? [];
}

/** The stream, with lines wrapped if it is a terminal. Everything else stays the same, because questions also use the stream. */
export function wrapped<T extends OutStream>(stream: T): T {
  if (stream.isTTY !== true) return stream;
  const write = (text: string): boolean => stream.write(wrapLines(text, columnsOf(stream)));
  return new Proxy(stream, {
    get(target, name) {
      if (name === 'write') return write;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
