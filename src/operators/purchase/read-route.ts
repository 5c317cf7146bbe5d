import { concat, concatMap, defer, EMPTY, map, of, tap, type Observable } from 'rxjs';
import { failureCodes } from '../../contract/failure-code.js';
import type { Failed, JobEvent, Outcome } from '../../contract/outcome.js';
import type { WireRequest } from '../../transport/transport.js';
import { asJob, type Job } from '../job.js';
import { askUntilAnswered } from '../requests/ask-until-answered.js';
import type { ClientContext, Judged, WaitingEvent } from '../requests/exchange.js';
import { directAnswer, failureOf, whatWasAsked } from '../requests/outcome-of.js';
import { deadline } from '../deadline.js';
import { awaitCheckpoint, refusedBy, settled, type JobSpec } from './job-spec.js';

/** A GET of a route and its options: the parts of a purchase that a read needs. */
export type RouteQuery<O> = Pick<
  JobSpec<O>,
  'key' | 'check' | 'options' | 'checkpoint' | 'untilAborted' | 'report' | 'trace'
> & { readonly request: WireRequest };

/**
 * A GET of a load-balanced route with the events of a job: `submitting`, waits, `settled`. It buys nothing, so it is cold:
 * every subscription sends a request, and the retry policy repeats it after temporary failures. Unsubscribing aborts the
 * request.
 */
export function readRoute<O>(query: RouteQuery<O>, context: ClientContext): Job<O> {
  const { key, report, trace, untilAborted } = query;
  const reported = tap<JobEvent<O>>((event) => report(event, trace));
  const events = answered(query, context).pipe(reported, untilAborted);
  return asJob(events, { key, jobId: '', statusCalls: 0, cannotBeCancelled: true, cancel: () => EMPTY });
}

function answered<O>(query: RouteQuery<O>, context: ClientContext): Observable<JobEvent<O>> {
  const { request, options, checkpoint, trace } = query;
  return defer(() => {
    trace.attempt = 1;
    const at = context.scheduler.now() + options.deadlineMs;
    const late = () => of<Step>({ type: 'ended', outcome: overdue(request, options.deadlineMs) });
    return concat(
      awaitCheckpoint(checkpoint, { type: 'intent', sync: true, attempt: 1 }),
      of<JobEvent<O>>({ type: 'submitting', sync: true }),
      ask(query, context).pipe(
        deadline<Step>({ at, otherwise: late, scheduler: context.scheduler }),
        // Outside the deadline, which must not replace an outcome that is being made durable.
        concatMap((step) => (step.type === 'ended' ? end(step.outcome, query) : of(step))),
      ),
    );
  });
}

type Step = WaitingEvent | { readonly type: 'ended'; readonly outcome: Outcome<unknown> };

function ask<O>(query: RouteQuery<O>, context: ClientContext): Observable<Step> {
  const { key, request, options, trace } = query;
  let tokens: number | undefined;
  const mayAskAgain = ({ verdict, fault }: Judged, failures: number) => {
    if (verdict.verdict !== 'again' || failures > options.retry.maxRetries) return false;
    const taken = context.quota.take({ timedOut: fault?.timedOut ?? false });
    if (taken !== undefined) tokens = (tokens ?? 0) + taken;
    if (taken !== undefined) trace.attempt = failures + 1;
    return taken !== undefined;
  };
  return askUntilAnswered(
    { purpose: 'route-get', request, key, trace, backoff: options.retry, mayAskAgain },
    context,
  ).pipe(
    map((step): Step => {
      if (step.type === 'waiting') return step;
      const outcome = outcomeIn(step.judged, request);
      if (outcome.status === 'completed') context.quota.succeeded(tokens);
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

function end<O>(outcome: Outcome<unknown>, query: RouteQuery<O>): Observable<JobEvent<O>> {
  const stops = outcome.status === 'failed' && failureCodes[outcome.code].scope === 'stop';
  return concat(
    stops ? awaitCheckpoint(query.checkpoint, refusedBy(outcome)) : [],
    defer(() => settled(outcome, query)),
  );
}

function overdue(request: WireRequest, deadlineMs: number): Failed {
  const message = `${whatWasAsked(request)}: no answer within ${deadlineMs} ms`;
  return { status: 'failed', code: 'transport', paid: 'no', message };
}
