/** What is read of an error of Node or of an HTTP client: clients hang requests, headers and sockets onto theirs. */
export interface ClientError {
  readonly message: string;
  readonly code: string | undefined;
  readonly syscall: string | undefined;
}

export function readClientError(error: unknown): ClientError {
  return {
    message: messageOf(error),
    code: textOf(error, 'code') ?? parserCode(error),
    syscall: textOf(error, 'syscall'),
  };
}

/** undici names its parser's errors but forgets their code. */
function parserCode(error: unknown): string | undefined {
  return error instanceof Error && error.name === 'HTTPParserError' ? 'HPE_INVALID_REPLY' : undefined;
}

/** Several addresses that all failed come as one error without a message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : '';
}

function textOf(error: unknown, name: 'code' | 'syscall'): string | undefined {
  const value = (error as Partial<Record<string, unknown>> | null | undefined)?.[name];
  return typeof value === 'string' ? value : undefined;
}
