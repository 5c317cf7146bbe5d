/** An edit that cannot be made as asked: FAILED, and HTTP 400 on /runsync. (spec 7.2) */
export class BadEdit extends Error {
  readonly status = 400;

  constructor(message: string) {
    super(message);
    this.name = 'BadEdit';
  }
}
