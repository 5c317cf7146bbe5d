import type { Emulator } from '../../runners/emulator/index.js';

/** Whatever JSON holds. */
type Json = ReturnType<typeof JSON.parse>;

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON. */
  json: Json;
}

export interface Asking {
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Submits to /run and returns the job's id. */
  run(endpoint: string, input: unknown, more?: object): Promise<string>;
  status(endpoint: string, id: string): Promise<Json>;
  /** Asks /health until the numbers are there: what was sent has arrived. */
  until(
    endpoint: string,
    jobs: Partial<Record<'inQueue' | 'inProgress' | 'completed' | 'failed', number>>,
  ): Promise<void>;
}

/** Raw HTTP to an emulator, with its key; paths begin behind {base_url}. */
export function asking({ baseUrl, apiKey }: Pick<Emulator, 'baseUrl' | 'apiKey'>): Asking {
  const authorization = { Authorization: `Bearer ${apiKey}` };
  const ask = async (path: string, init: RequestInit): Promise<Reply> => {
    const response = await fetch(baseUrl + path, { redirect: 'manual', ...init });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parsed(text) };
  };
  const get: Asking['get'] = (path, headers) => ask(path, { headers: { ...authorization, ...headers } });
  const post: Asking['post'] = (path, body, headers) =>
    ask(path, {
      method: 'POST',
      headers: {
        ...authorization,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const until: Asking['until'] = async (endpoint, jobs) => {
    for (let tries = 0; tries < 5_000; tries += 1) {
      const health = (await get(`/v2/${endpoint}/health`)).json;
      if (Object.entries(jobs).every(([name, count]) => health.jobs[name] === count)) return;
    }
    throw new Error(`${endpoint} never had ${JSON.stringify(jobs)}`);
  };
  return {
    get,
    post,
    until,
    run: async (endpoint, input, more) => (await post(`/v2/${endpoint}/run`, { input, ...more })).json.id,
    status: async (endpoint, id) => (await get(`/v2/${endpoint}/status/${id}`)).json,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
