import { concat, concatMap, defer, from, map, of, tap, type Observable } from 'rxjs';
import { failureCodes } from '../../contract/failure-code.js';
import type { Failed, JobEvent, Outcome } from '../../contract/outcome.js';
import type { WireRequest } from '../../transport/transport.js';
import { asJob, type Job } from '../job.js';
import { askUntilAnswered } from '../requests/ask-until-answered.js';
import type { Desk, Judged } from '../requests/exchange.js';
import { directAnswer, failureOf, whatWasAsked } from '../requests/outcome-of.js';
import type { WaitingEvent } from '../requests/through-gate.js';
import { deadline } from '../timers/deadline.js';
import { awaitMark, refusalOf } from './checkpoint-events.js';
import type { Order } from './job-spec.js';

/** A GET of a route, and how: what a purchase needs, without what makes it one. */
export type RouteQuery<O> = Pick<
  Order<O>,
  'key' | 'check' | 'options' | 'checkpoint' | 'untilAborted' | 'tell'
> & { readonly request: WireRequest };

/**
 * A GET of a load-balanced route in the shape of a job: `submitting`, waits, `settled`. Buys nothing, so it is cold:
 * every subscription asks, and what may pass is asked again by the retry policy. Unsubscribing aborts the request.
 */
export function readRoute<O>(query: RouteQuery<O>, desk: Desk): Job<O> {
  const { key, tell, untilAborted } = query;
  const events = answered(query, desk).pipe(tap(tell), untilAborted);
  return asJob(events, { key, jobId: '', statusCalls: 0, cancel: () => undefined });
}

function answered<O>(query: RouteQuery<O>, desk: Desk): Observable<JobEvent<O>> {
  const { request, options, checkpoint } = query;
  return defer(() => {
    const at = desk.scheduler.now() + options.deadlineMs;
    const late = () => of<Step>({ type: 'ended', outcome: overdue(request, options.deadlineMs) });
    return concat(
      awaitMark(checkpoint, { type: 'intent', sync: true, attempt: 1 }),
      of<JobEvent<O>>({ type: 'submitting', sync: true }),
      ask(query, desk).pipe(
        deadline<Step>({ at, otherwise: late, scheduler: desk.scheduler }),
        // Outside of the deadline: an outcome that is being made durable is not given up for another.
        concatMap((step) => (step.type === 'ended' ? settle(step.outcome, query) : of(step))),
      ),
    );
  });
}

type Step = WaitingEvent | { readonly type: 'ended'; readonly outcome: Outcome<unknown> };

function ask<O>(query: RouteQuery<O>, desk: Desk): Observable<Step> {
  const { key, request, options } = query;
  let tokens: number | undefined;
  const mayAskAgain = ({ verdict, fault }: Judged, failures: number) => {
    if (verdict.verdict !== 'again' || failures > options.retry.maxRetries) return false;
    const taken = desk.quota.take({ timedOut: fault?.timedOut ?? false });
    if (taken !== undefined) tokens = (tokens ?? 0) + taken;
    return taken !== undefined;
  };
  return askUntilAnswered(
    { purpose: 'route-get', request, key, backoff: options.retry, mayAskAgain },
    desk,
  ).pipe(
    map((step): Step => {
      if (step.type === 'waiting') return step;
      const outcome = outcomeIn(step.judged, request);
      if (outcome.status === 'completed') desk.quota.succeeded(tokens);
      return { type: 'ended', outcome };
    }),
  );
}

function outcomeIn(judged: Judged, request: WireRequest): Outcome<unknown> {
  const { verdict, reading } = judged;
  if (reading?.body === 'value') return directAnswer(reading.value);
  if (verdict.verdict === 'again')
    return failureOf(verdict.usedUp, judged, { request, advice: 'tries used up' });
  return failureOf(verdict.verdict === 'final' ? verdict.code : 'transport', judged, { request });
}

function settle<O>(outcome: Outcome<unknown>, { checkpoint, check }: RouteQuery<O>): Observable<JobEvent<O>> {
  const stops = outcome.status === 'failed' && failureCodes[outcome.code].scope === 'stop';
  return concat(
    stops ? awaitMark(checkpoint, refusalOf(outcome)) : [],
    defer(() => from(check(outcome))).pipe(
      concatMap((checked) =>
        concat(
          awaitMark(checkpoint, { type: 'settled', outcome: checked }),
          of<JobEvent<O>>({ type: 'settled', outcome: checked }),
        ),
      ),
    ),
  );
}

function overdue(request: WireRequest, deadlineMs: number): Failed {
  const message = `${whatWasAsked(request)}: no answer within ${deadlineMs} ms`;
  return { status: 'failed', code: 'transport', paid: 'no', message };
}
