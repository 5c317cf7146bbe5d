import { Linter } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, it } from 'vitest';
import { plainWords } from '../../.config/plain-words.mjs';

/** The names in a file that the rule refuses. */
function refused(code: string, filename = 'some-file.ts'): string[] {
  const config = {
    files: ['**/*.ts'],
    languageOptions: { parser: tseslint.parser },
    plugins: { names: { rules: { 'plain-words': plainWords } } },
    rules: { 'names/plain-words': 'error' },
  };
  return new Linter()
    .verify(code, [config as never], filename)
    .map(({ message }) => /'(\w[\w-]*)'/.exec(message)?.[1] ?? message);
}

describe('the rule of plain words', () => {
  it.each([
    ['const toldSettings = 1;', 'toldSettings'],
    ['function f({ a: tellAll }: { a: number }) {}', 'tellAll'],
    ['class Turnstile {}', 'Turnstile'],
    ['interface A { readonly paceMs: number }', 'paceMs'],
    ['const f = (...hands: number[]) => hands;', 'hands'],
    ['class A { constructor(private readonly desk: number) {} }', 'desk'],
    ['type RunTimeLaw = number;', 'RunTimeLaw'],
  ])('refuses a part of a name: %s', (code, name) => {
    expect(refused(code)).toEqual([name]);
  });

  it('refuses it in the name of a file', () => {
    expect(refused('export {};', 'src/rebuy-rows.ts')).toEqual(['rebuy-rows']);
  });

  it.each([
    'const flawless = 1;',
    'const bookmark = 1;',
    "import { tell } from 'outside';",
    "const text = 'told';",
  ])('leaves other words, outside names and texts alone: %s', (code) => {
    expect(refused(code)).toEqual([]);
  });
});
