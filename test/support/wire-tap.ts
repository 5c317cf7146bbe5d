import nock from 'nock';

/** A request as it left: the header names as nock gives them, in lower case. */
export interface Tapped {
  method: string;
  path: string;
  headers: Record<string, unknown>;
  body: string;
}

/** Answers the next request to a host that does not exist, and keeps what was sent byte for byte. Replaces an earlier tap. */
export function tap(
  host: string,
  status: number,
  reply: string,
  headers: Record<string, string> = {},
): Tapped[] {
  const tapped: Tapped[] = [];
  nock.cleanAll();
  for (const method of ['GET', 'POST'])
    nock(host)
      .intercept(/.*/, method)
      .reply(function (path) {
        const { headers: sent, requestBodyBuffers } = this.req as unknown as {
          headers: Record<string, unknown>;
          requestBodyBuffers?: Buffer[];
        };
        const body = Buffer.concat(requestBodyBuffers ?? []).toString('utf8');
        tapped.push({ method, path, headers: { ...sent }, body });
        return [status, reply, { 'content-type': 'application/json', ...headers }];
      });
  return tapped;
}
