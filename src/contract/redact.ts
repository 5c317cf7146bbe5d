const mask = '[redacted]';

/** A shorter secret is masked only behind `Bearer`: it would otherwise be found within ordinary words. */
const minLength = 8;

/**
 * Masks secrets in a text, also as JSON, a URL or a JSON slash escape would write them. Made for replies of a service
 * that echoes what it was sent: valid JSON stays valid.
 */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce(maskOne, text);
}

function maskOne(text: string, secret: string): string {
  if (secret === '') return text;
  return spellings(secret).reduce((masked, spelling) => masked.replaceAll(spelling, mask), text);
}

/** These characters are written in one way everywhere. */
const plain = /^[\w.~-]+$/;

function spellings(secret: string): string[] {
  if (secret.length < minLength) return [`Bearer ${secret}`, `bearer ${secret}`];
  if (plain.test(secret)) return [secret];
  const json = JSON.stringify(secret).slice(1, -1);
  const all = new Set([secret, json, json.replaceAll('/', '\\/'), encodeURIComponent(secret)]);
  // The longest first: else a shorter spelling would take away half of a longer one.
  return [...all].sort((one, other) => other.length - one.length);
}
