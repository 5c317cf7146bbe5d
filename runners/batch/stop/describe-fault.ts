/** An error for the log: other people's errors may carry headers, so only its words and its place are told. */
export function describeFault(error: unknown): { message: string; stack?: string | undefined } {
  return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) };
}
