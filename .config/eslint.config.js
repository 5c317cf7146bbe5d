import tseslint from 'typescript-eslint';
import { plainWords } from './plain-words.mjs';

const spreadLiteral = {
  selector: 'ObjectExpression > SpreadElement > ObjectExpression',
  message: 'Write the properties themselves: a spread of a literal hides wrong names from the types.',
};

export default tseslint.config(
  { ignores: ['dist/**', 'out/**', '**/*.js', '**/*.mjs', '**/*.cjs'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './.config/tsconfig.page.json'],
        tsconfigRootDir: new URL('..', import.meta.url).pathname,
      },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ExportDefaultDeclaration',
          message: 'Exports are named, so that a reader can search for them.',
        },
        spreadLiteral,
        { selector: 'ExportAllDeclaration', message: 'The public face names every export.' },
        {
          selector: "ImportDeclaration[source.value='zod'] > ImportSpecifier",
          message: "Write `import * as z from 'zod'`: of any other form a bundle takes all of zod.",
        },
        {
          selector:
            "ClassDeclaration[superClass.name=/^(Millrace|Reply)Error$/]:not(:has(PropertyDefinition[static=true][key.name='name']))",
          message:
            "Write `static override readonly name: string = '…'`: a minifier takes the class's own name.",
        },
      ],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['src/**/*.ts', 'runners/**/*.ts', 'samples/**/*.ts', 'test/**/*.ts'],
    plugins: { names: { rules: { 'plain-words': plainWords } } },
    rules: { 'names/plain-words': 'error' },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-console': 'error',
      'no-restricted-globals': ['error', 'process', 'setTimeout', 'setInterval', 'Date'],
    },
  },
  { files: ['src/transport/**/*.ts'], rules: { 'no-restricted-globals': ['error', 'process'] } },
  {
    files: ['test/**/*.ts', 'samples/**/*.ts', '.config/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
      'no-restricted-syntax': ['error', spreadLiteral],
    },
  },
);
