import { redact } from '../contract/redact.js';
import { TransportError } from './transport-error.js';
import type { FaultPhase } from './transport-error.js';
import type { WireRequest } from './transport.js';

/** What a client's error says, as far as it is read: clients hang requests, headers and sockets onto theirs. */
export interface ClientFault {
  readonly message: string;
  readonly code?: string | undefined;
  readonly syscall?: string | undefined;
  /** The phase that timed out. */
  readonly timedOut?: FaultPhase | undefined;
  /** The connection was never ready for a request. */
  readonly neverConnected: boolean;
  /** The head of a reply had arrived. */
  readonly responded: boolean;
}

/** Turns a client's error into ours, and decides whether anything of the request can have reached the service. */
export function faultOf(
  request: Pick<WireRequest, 'method' | 'url' | 'headers'>,
  fault: ClientFault,
): TransportError {
  const phase = fault.timedOut ?? phaseOf(fault);
  const code = fault.timedOut === undefined ? fault.code : 'ETIMEDOUT';
  const sent = neverLeft(fault, phase) ? 'no' : 'maybe';
  const what = fault.timedOut === undefined ? fault.message || 'failed' : `timed out (${phase})`;
  const text = `${request.method} ${placeOf(request.url)}: ${what}${code === undefined || what.includes(code) ? '' : ` (${code})`}`;
  return new TransportError(
    phase,
    code,
    sent,
    fault.timedOut !== undefined,
    redact(text, secretsOf(request)),
  );
}

/** The reply passes its cap: it is cut off, and whatever was asked for has been done. */
export function tooLarge(request: Pick<WireRequest, 'method' | 'url'>, maxBytes: number): TransportError {
  const text = `${request.method} ${placeOf(request.url)}: the reply is larger than ${maxBytes} bytes`;
  return new TransportError('too-large', undefined, 'maybe', false, text);
}

function phaseOf({ code = '', syscall, neverConnected, responded, message }: ClientFault): FaultPhase {
  if (isTlsCode(code) || (neverConnected && /^(EPROTO$|ERR_SSL_|ERR_TLS_)/.test(code))) return 'tls';
  if (code === 'ENOTFOUND' || code.startsWith('EAI_') || syscall === 'getaddrinfo') return 'lookup';
  if (isConnectFault(code, syscall)) return 'connect';
  if (message.includes('before secure TLS connection')) return 'secure-connect';
  if (neverConnected) return 'connect';
  if (code === 'ERR_BUFFER_TOO_LARGE') return 'too-large';
  if (responded) return 'read';
  if (/^(UND_)?ERR_(INVALID|HTTP_INVALID|UNESCAPED)/.test(code)) return 'send';
  return code.startsWith('HPE_') ? 'response' : 'reset';
}

/** The rule: only what provably never left is `no`; a reset may have come before or after the bytes. */
function neverLeft(fault: ClientFault, phase: FaultPhase): boolean {
  if (fault.timedOut !== undefined) return beforeRequest.has(phase);
  return fault.neverConnected || beforeRequest.has(phase) || phase === 'send';
}

const beforeRequest: ReadonlySet<FaultPhase> = new Set(['lookup', 'connect', 'tls', 'secure-connect']);

const connectCodes: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH']);

/** These codes also come from a connection that broke later: then they were met while reading or writing. */
function isConnectFault(code: string, syscall: string | undefined): boolean {
  return syscall === 'connect' || (connectCodes.has(code) && syscall !== 'read' && syscall !== 'write');
}

const tlsCodes: ReadonlySet<string> = new Set([
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
]);

/** Verification of the server's certificate failed: nothing of the request has left then. */
function isTlsCode(code: string): boolean {
  return tlsCodes.has(code) || /^(CERT|CRL)_/.test(code);
}

/** Host and path; a query may hold what is nobody's business. */
function placeOf(url: string): string {
  return URL.canParse(url) ? `${new URL(url).host}${new URL(url).pathname}` : 'an invalid URL';
}

function secretsOf({ headers }: Pick<WireRequest, 'headers'>): string[] {
  return Object.entries(headers)
    .filter(([name]) => name.toLowerCase() === 'authorization')
    .map(([, value]) => value.replace(/^Bearer /i, ''));
}
