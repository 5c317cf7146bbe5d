import { describe, expect, it } from 'vitest';
import { parseHost } from '../../../../runners/cli/options/parse-value.js';

describe('parseHost', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['https://api.example.com/gateway//', 'https://api.example.com/gateway'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
  ])('takes %s as %s', (given, value) => {
    expect(parseHost(given)).toEqual({ value });
  });

  it.each([
    ['https://api.example.com/v2', 'leave it out, millrace adds it'],
    ['https://api.example.com/v2/', 'leave it out, millrace adds it'],
    ['api.example.com', 'is not an http or https URL'],
    ['ftp://api.example.com', 'is not an http or https URL'],
    ['https://api.example.com/?a=b', 'leave it out'],
    ['https://me:secret@api.example.com', 'MILLRACE_API_KEY'],
  ])('refuses %s', (given, why) => {
    const parsed = parseHost(given);
    expect(parsed).toHaveProperty('problem', expect.stringContaining(why));
  });

  it('does not repeat a password', () => {
    expect(JSON.stringify(parseHost('https://me:secret@api.example.com'))).not.toContain('secret');
    expect(JSON.stringify(parseHost('gopher://me:secret@api.example.com'))).not.toContain('secret');
  });
});
