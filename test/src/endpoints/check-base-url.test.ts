import { describe, expect, it } from 'vitest';
import { checkBaseUrl } from '../../../src/endpoints/wire-requests.js';

describe('checkBaseUrl', () => {
  it.each([
    ['https://api.example.test', 'https://api.example.test'],
    ['https://api.example.test///', 'https://api.example.test'],
    ['http://127.0.0.1:8080/proxy/', 'http://127.0.0.1:8080/proxy'],
    ['https://api.example.test/v2x', 'https://api.example.test/v2x'],
  ])('takes %s as %s', (given, used) => {
    expect(checkBaseUrl(given, 'baseUrl')).toBe(used);
  });

  it.each([
    ['', 'is empty'],
    ['api.example.test', 'is not an http or https URL'],
    ['ftp://api.example.test', 'is not an http or https URL'],
    ['https://', 'is not a valid URL'],
    ['https://api.example.test/v2', 'ends in /v2'],
    ['https://api.example.test/v2/', 'ends in /v2'],
    ['https://me:secret@api.example.test', 'carries a user name or password'],
    ['https://api.example.test?x=1', 'carries a query'],
    ['https://api.example.test#x', 'carries a query or a fragment'],
  ])('refuses %s: %s', (given, problem) => {
    expect(() => checkBaseUrl(given, 'lbBaseUrl')).toThrow(`lbBaseUrl: ${problem}`);
  });
});
