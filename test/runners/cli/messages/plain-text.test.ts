import { describe, expect, it } from 'vitest';
import { fact, plainText } from '../../../../runners/cli/messages/plain-text.js';

describe('plainText', () => {
  it('drops what would command a terminal [fault 30]', () => {
    expect(plainText('a\u001b[2Jb\u001b]0;title\u0007c\u009b31md')).toBe('abc 31md');
  });

  it('makes one line of several', () => {
    expect(plainText('one\r\ntwo\u2028three\u0000four')).toBe('one two three four');
  });

  it('does not let text turn its direction', () => {
    expect(plainText('a\u202egnp.exe')).toBe('a gnp.exe');
  });

  it('leaves other scripts and emoji as they are', () => {
    expect(plainText('Füße 水 🦊')).toBe('Füße 水 🦊');
  });

  it('cuts what is too long', () => {
    expect(plainText('abcdef', 4)).toBe('abc…');
  });
});

describe('fact', () => {
  it('puts further lines below the text, also where the label is longer than its column', () => {
    expect(fact('by style', '2 values', ['oil: 3'])).toEqual([
      '  by style     2 values',
      '               oil: 3',
    ]);
    expect(fact('by aspect_ratio', '2 values', ['1:1: 3'])).toEqual([
      '  by aspect_ratio 2 values',
      '                  1:1: 3',
    ]);
  });
});
