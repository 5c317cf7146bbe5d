import { MillraceError } from '../contract/millrace-error.js';
import { redact } from '../contract/redact.js';
import type { WireRequest } from './transport.js';

/** The phase in which an exchange failed. `tls`: verification failed. `too-large`: the reply was longer than its cap. */
export type FaultPhase =
  'lookup' | 'connect' | 'tls' | 'secure-connect' | 'send' | 'response' | 'read' | 'too-large' | 'reset';

/**
 * An exchange without a reply. It contains no headers and so no key, because the HTTP client's own error never leaves the
 * transport.
 */
export class TransportError extends MillraceError {
  static override readonly name: string = 'TransportError';

  constructor(
    readonly phase: FaultPhase,
    /** The system's code, if there is one: ECONNREFUSED, ENOTFOUND, ECONNRESET, ETIMEDOUT … */
    readonly systemCode: string | undefined,
    /** `no`: provably nothing of the request reached the service. `maybe`: it may have. */
    readonly sent: 'no' | 'maybe',
    readonly timedOut: boolean,
    message: string,
  ) {
    super('transport', message);
  }
}

/** An error of the HTTP client, and how far the exchange had come. */
export interface ClientFault extends ClientError {
  /** The phase that timed out. */
  readonly timedOut?: FaultPhase | undefined;
  /** Whether the connection was never ready for a request. */
  readonly neverConnected: boolean;
  /** Whether the head of a reply had arrived. */
  readonly responded: boolean;
}

/** Turns an error of the HTTP client into ours, and decides whether any part of the request can have reached the service. */
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

/** The error for a reply that is longer than its cap and cut off. The service may have done the work. */
export function tooLarge(request: Pick<WireRequest, 'method' | 'url'>, maxBytes: number): TransportError {
  const text = `${request.method} ${placeOf(request.url)}: the reply is larger than ${maxBytes} bytes`;
  return new TransportError('too-large', undefined, 'maybe', false, text);
}

/** The error for a reply of which no more bytes come. */
export function stalled({
  method,
  url,
  timeouts,
}: Pick<WireRequest, 'method' | 'url' | 'timeouts'>): TransportError {
  const text = `${method} ${placeOf(url)}: no byte came for ${timeouts.idleMs / 1000} s`;
  return new TransportError('read', 'ETIMEDOUT', 'maybe', true, text);
}

function phaseOf(fault: ClientFault): FaultPhase {
  const { code = '', syscall, neverConnected, responded, message } = fault;
  if (isTlsFault(fault)) return 'tls';
  if (code === 'ENOTFOUND' || code.startsWith('EAI_') || syscall === 'getaddrinfo') return 'lookup';
  if (isConnectFault(code, syscall)) return 'connect';
  if (message.includes('before secure TLS connection')) return 'secure-connect';
  if (neverConnected) return 'connect';
  if (code === 'ERR_BUFFER_TOO_LARGE') return 'too-large';
  if (responded) return 'read';
  if (/^(UND_)?ERR_(INVALID|HTTP_INVALID|UNESCAPED)/.test(code)) return 'send';
  return code.startsWith('HPE_') ? 'response' : 'reset';
}

/** The rule for `sent`: `no` only if the request provably never left. A reset may come before or after its bytes. */
function neverLeft(fault: ClientFault, phase: FaultPhase): boolean {
  if (fault.timedOut !== undefined) return beforeRequest.has(phase);
  return fault.neverConnected || beforeRequest.has(phase) || phase === 'send';
}

const beforeRequest: ReadonlySet<FaultPhase> = new Set(['lookup', 'connect', 'tls', 'secure-connect']);

const connectCodes: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH']);

/** A connection that breaks later gives these codes too, but then the system call is `read` or `write`. */
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

/** Whether TLS failed, or verification of the server's certificate, so that no part of the request has left. */
export function isTlsFault({
  code = '',
  neverConnected,
}: Pick<ClientFault, 'code' | 'neverConnected'>): boolean {
  if (tlsCodes.has(code) || /^(CERT|CRL)_/.test(code)) return true;
  return neverConnected && /^(EPROTO$|ERR_SSL_|ERR_TLS_)/.test(code);
}

/** Host and path, without the query, which may contain secrets. */
function placeOf(url: string): string {
  return URL.canParse(url) ? `${new URL(url).host}${new URL(url).pathname}` : 'an invalid URL';
}

function secretsOf({ headers }: Pick<WireRequest, 'headers'>): string[] {
  return Object.entries(headers)
    .filter(([name]) => name.toLowerCase() === 'authorization')
    .map(([, value]) => value.replace(/^Bearer /i, ''));
}

/** The parts to copy from an error of Node or of an HTTP client, which also contains requests, headers and sockets. */
export interface ClientError {
  readonly message: string;
  readonly code?: string | undefined;
  readonly syscall?: string | undefined;
}

export function readClientError(error: unknown): ClientError {
  return {
    message: messageOf(error),
    code: textOf(error, 'code') ?? parserCode(error),
    syscall: textOf(error, 'syscall'),
  };
}

/** The errors of undici's parser have a name and no code. */
function parserCode(error: unknown): string | undefined {
  return error instanceof Error && error.name === 'HTTPParserError' ? 'HPE_INVALID_REPLY' : undefined;
}

/** If several addresses fail, Node gives one error without a message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : '';
}

function textOf(error: unknown, name: 'code' | 'syscall'): string | undefined {
  const value = (error as Partial<Record<string, unknown>> | null | undefined)?.[name];
  return typeof value === 'string' ? value : undefined;
}
