/** A call of the service, as any kind of server received it. */
export interface ReceivedCall {
  readonly method: string;
  readonly path: string;
  /** From its content-length header, if it has one. */
  readonly length: number;
  /** Resolves to the next part of the body, or to `undefined` at its end. */
  readonly next: () => Promise<Uint8Array | undefined>;
}

export interface CallAnswer {
  readonly status: number;
  readonly text: string;
}

/** The part of a `node:http` request that is used. */
export interface NodeCall extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The part of a `node:http` response that is used. */
export interface NodeAnswer {
  /** Begins the response. */
  writeHead(status: number, headers: Record<string, string>): unknown;
  /** Sends the text, and ends the response. */
  end(text: string): unknown;
}

type AnswerCall = (call: ReceivedCall) => Promise<CallAnswer>;

/** A handler for servers with the `fetch` API. */
export function fetchHandler(answer: AnswerCall): (request: Request) => Promise<Response> {
  return async (request) => {
    const reader = request.body?.getReader();
    const { status, text } = await answer({
      method: request.method,
      path: new URL(request.url).pathname,
      length: Number(request.headers.get('content-length') ?? 0),
      next: async () => (await reader?.read())?.value as Uint8Array | undefined,
    });
    reader?.cancel().catch(() => undefined);
    return new Response(text, { status, headers: headersOf(status) });
  };
}

/** A handler for `node:http`. */
export function nodeHandler(answer: AnswerCall): (request: NodeCall, response: NodeAnswer) => void {
  return (request, response) => {
    // The iterator's `return` would destroy the connection before the answer is sent.
    const parts = request[Symbol.asyncIterator]();
    const call: ReceivedCall = {
      method: request.method ?? '',
      path: (request.url ?? '').split('?')[0] ?? '',
      length: Number(request.headers['content-length'] ?? 0),
      next: async () => (await parts.next()).value as Uint8Array | undefined,
    };
    void answer(call).then(({ status, text }) => {
      response.writeHead(status, headersOf(status));
      response.end(text);
    });
  };
}

/** Closes the connection of a call that is refused for good, because its body may not be read to its end. */
function headersOf(status: number): Record<string, string> {
  const isRead = status < 300 || status === 409 || status === 503;
  return { 'Content-Type': 'text/plain', ...(!isRead && { Connection: 'close' }) };
}

/** The body as text; `undefined` if it is longer than `maxBytes`. Rejects if it is incomplete. */
export async function readText(call: ReceivedCall, maxBytes: number): Promise<string | undefined> {
  if (!(call.length <= maxBytes)) return undefined;
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const part = await call.next();
    if (part === undefined) return text + decoder.decode();
    bytes += part.length;
    if (bytes > maxBytes) return undefined;
    text += decoder.decode(part, { stream: true });
  }
}
