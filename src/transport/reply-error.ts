import { MillraceError } from '../contract/millrace-error.js';

/** Facts about a reply that is not an answer, without headers and secrets. */
export interface ReplyFacts {
  readonly httpStatus: number;
  /** Additional context from the service. */
  readonly detail?: string | undefined;
  /** The wait that the service asks for, in ms. */
  readonly retryAfterMs?: number | undefined;
}

/** A reply that is not the expected answer. The message names method, path and HTTP status. */
export class ReplyError extends MillraceError {
  static override readonly name: string = 'ReplyError';
  readonly httpStatus: number;
  /** Additional context from the service, redacted. (spec 7.2) */
  readonly detail?: string;
  /** The wait that the service asks for, in ms. */
  readonly retryAfterMs?: number;

  constructor(code: string, message: string, facts: ReplyFacts) {
    super(code, message);
    this.httpStatus = facts.httpStatus;
    if (facts.detail !== undefined) this.detail = facts.detail;
    if (facts.retryAfterMs !== undefined) this.retryAfterMs = facts.retryAfterMs;
  }
}

/** HTTP 400: the input is refused. */
export class BadRequestError extends ReplyError {
  static override readonly name: string = 'BadRequestError';

  constructor(message: string, facts: ReplyFacts) {
    super('bad-request', message, facts);
  }
}

/** HTTP 401, 403: the API key is missing or refused. */
export class UnauthorizedError extends ReplyError {
  static override readonly name: string = 'UnauthorizedError';

  constructor(message: string, facts: ReplyFacts) {
    super('unauthorized', message, facts);
  }
}

/** HTTP 404: no such endpoint, route or job. */
export class NotFoundError extends ReplyError {
  static override readonly name: string = 'NotFoundError';

  constructor(message: string, facts: ReplyFacts) {
    super('not-found', message, facts);
  }
}

/** HTTP 429: too many requests. */
export class RateLimitedError extends ReplyError {
  static override readonly name: string = 'RateLimitedError';

  constructor(message: string, facts: ReplyFacts) {
    super('rate-limited', message, facts);
  }
}

/** HTTP 5xx: the service, or on a route its function, failed. */
export class ServerError extends ReplyError {
  static override readonly name: string = 'ServerError';

  constructor(message: string, facts: ReplyFacts) {
    super('server-error', message, facts);
  }
}

/** HTTP 3xx: redirects are never followed, because the key would go to another address. */
export class RedirectError extends ReplyError {
  static override readonly name: string = 'RedirectError';

  constructor(message: string, facts: ReplyFacts) {
    super('redirect', message, facts);
  }
}

/** Any other status that is not a success. */
export class UnexpectedStatusError extends ReplyError {
  static override readonly name: string = 'UnexpectedStatusError';

  constructor(message: string, facts: ReplyFacts) {
    super('unexpected-status', message, facts);
  }
}

/** A success whose body is not the expected answer: broken JSON, HTML, nothing, another job's id. */
export class MalformedReplyError extends ReplyError {
  static override readonly name: string = 'MalformedReplyError';

  constructor(message: string, facts: ReplyFacts) {
    super('malformed-reply', message, facts);
  }
}
