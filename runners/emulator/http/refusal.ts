/** A request that is answered with an HTTP error: `{error, detail}`. (spec 7) */
export class Refusal extends Error {
  readonly status: number;
  readonly detail: string;
  readonly headers: Record<string, string>;

  constructor(status: number, error: string, detail: string, headers: Record<string, string> = {}) {
    super(error);
    this.name = 'Refusal';
    this.status = status;
    this.detail = detail;
    this.headers = headers;
  }
}
