import { Refusal } from './refusal.js';

/** What is sent for a request. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string | Buffer | FileBody;
}

/** A body that lies in a file. */
export interface FileBody {
  path: string;
  bytes: number;
}

/** A JSON text under an HTTP code. */
export function jsonAnswer(body: string, status = 200, headers: Record<string, string> = {}): Answer {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body };
}

/** Any error as the answer it makes: a refusal as it says, everything else a 500. */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof Refusal) {
    const body = JSON.stringify({ error: error.message, detail: error.detail });
    return jsonAnswer(body, error.status, error.headers);
  }
  const detail = error instanceof Error ? error.message : String(error);
  return jsonAnswer(JSON.stringify({ error: 'internal server error', detail }), 500);
}
