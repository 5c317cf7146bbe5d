import { NEVER, type Observable } from 'rxjs';
import type { CallbackResult, Callback, JobWebhook } from '../../src/policy/job-webhook.js';

/** The callbacks of one job, called by hand. */
export function calledWebhook(giveUp$: Observable<unknown> = NEVER) {
  let take: ((callback: Callback) => Observable<CallbackResult>) | undefined;
  const results: string[] = [];
  const contradicted: string[] = [];
  const ended: string[] = [];
  const webhook: JobWebhook = {
    address: (attempt) => `https://hooks.example/secret-token-${attempt}`,
    listen: (given) => {
      take = given;
      return { unsubscribe: () => (take = undefined) };
    },
    ended: (outcome) => ended.push(outcome.status),
    giveUp$,
    contradicted: (jobId) => contradicted.push(jobId),
  };
  return {
    webhook,
    results,
    contradicted,
    ended,
    get isListening() {
      return take !== undefined;
    },
    /** What the job makes of it stands in `results` once it is durable; `late` where that never is, `failed` where it errors. */
    call(reply: unknown, attempt = 1): void {
      const at = results.push('…') - 1;
      const body = reply === undefined || typeof reply === 'string' ? reply : JSON.stringify(reply);
      take?.({ attempt, body }).subscribe({
        next: (result) => (results[at] = result),
        error: () => (results[at] = 'failed'),
        complete: () => (results[at] === '…' ? (results[at] = 'late') : undefined),
      });
    },
  };
}
