import { serveHttp } from './loopback-server.js';

/** A service that makes a job of each POST; the first one about row "a" gets no answer, or is refused, and its job is named by a callback alone. */
export async function openSilentShop() {
  const posts: string[] = [];
  const state = {
    address: '',
    isOpen: false,
    isRefusing: false,
    /** Jobs never end. */
    isStuck: false,
    retryAfter: '5',
    onPost: (): unknown => undefined,
  };
  const callBack = async (jobStatus = 'COMPLETED') => {
    const body = JSON.stringify({ id: 'job-a', status: jobStatus, output: { of: 'a', cost: 0.01 } });
    const { status } = await fetch(state.address, { method: 'POST', body });
    state.isOpen = true;
    return status;
  };
  const server = await serveHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = (body: unknown) => response.end(JSON.stringify(body));
      if (request.method === 'GET') {
        const id = (request.url ?? '').split('/').at(-1) ?? '';
        const isOver = !state.isStuck && (id === 'job-a' || state.isOpen);
        return answer({
          id,
          status: isOver ? 'COMPLETED' : 'IN_PROGRESS',
          output: { of: id.slice(4), cost: 0.01 },
        });
      }
      const { input, webhook } = JSON.parse(Buffer.concat(chunks).toString()) as {
        input: { of: string };
        webhook: string;
      };
      posts.push(input.of);
      if (input.of === 'a' && state.address === '') {
        state.address = webhook;
        if (!state.isRefusing) return request.socket.destroy();
        response.writeHead(429, { 'Retry-After': state.retryAfter }).end();
        return state.onPost();
      }
      answer({ id: `job-${input.of}`, status: 'IN_QUEUE' });
      return input.of === 'z' && state.onPost();
    });
  });
  return { server, posts, state, callBack };
}
