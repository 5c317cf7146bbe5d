/**
 * The part of millrace that does not need Node.js: for browsers, Bun, Deno and workers, with a transport of `millrace/fetch`.
 * It is `millrace` without got and `diagnostics_channel`.
 *
 * @module millrace/core
 */

// A client and its endpoints: what can be bought.
export { createCoreClient as createClient, type CoreClientOptions } from './endpoints/client-on.js';
export type { Client } from './endpoints/client-on.js';
export type { ClientOptions } from './endpoints/client-state.js';
export type { QueueEndpointOptions } from './endpoints/client-on.js';
export type { ChunkOf, EndpointTypes, InputOf, OutputOf } from './endpoints/queue-endpoint.js';
export type {
  QueueEndpoint,
  StatusOptions,
  StreamOptions,
  WatchOptions,
} from './endpoints/queue-endpoint.js';
export type { RouteCall, RouteCallOptions, RouteEndpoint, RouteOptions } from './endpoints/route-endpoint.js';
export type { AttachOptions, CallOptions } from './endpoints/call-options.js';
export type { JobPolicy, SubmitOptions, SyncOptions } from './endpoints/call-options.js';
export type { Activity } from './endpoints/client-state.js';
export type { RequestReport, TracedCall } from './operators/requests/request-report.js';
export type { RequestPurpose } from './policy/may-send-again.js';

// A job, its events and its outcome.
export type { Job, JobOperator, JobPipe, SyncJob } from './operators/job.js';
export type { Completed, Failed, JobEvent, Outcome } from './contract/outcome.js';
export type { Paid } from './contract/failure-code.js';
export type { WaitReason, Checkpoint, CheckpointEvent } from './contract/outcome.js';
export { toOutcome, toOutput } from './operators/to-outcome.js';
export { retryPurchase, type RetryPurchaseOptions } from './operators/retry-purchase.js';
export { chainJob } from './operators/chain-job.js';
export { saveWith } from './operators/save-with.js';
export { cancelOnTeardown } from './operators/cancel-on-teardown.js';
export { untilAborted } from './operators/until-aborted.js';
export { iterate } from './operators/iterate.js';

// Many jobs.
export { pullJobs, type PullOptions } from './operators/fan-out/pull-jobs.js';
export type { PulledJobs } from './operators/fan-out/pulled-jobs.js';
export { mergeJobs, type MergeOptions } from './operators/fan-out/merge-jobs.js';
export { switchJobs } from './operators/fan-out/switch-jobs.js';
export type { OnError } from './operators/fan-out/fan-out.js';
export type { RowOutcome } from './operators/fan-out/row-slot.js';
export { createLanes, type LaneOptions, type Lanes, withinLane } from './operators/within-lane.js';

// Money.
export { createBudget, type Budget } from './operators/budget/create-budget.js';
export { withinBudget } from './operators/budget/within-budget.js';
export { toMicroDollars, toUsd, type MicroDollars, imageEditPrices } from './contract/micro-dollars.js';

// When to ask, when to send, when to send again.
export type { QueueOptions, RetryPolicy } from './policy/queue-options.js';
export { pollFixed, pollExponential, type ExponentialOptions } from './policy/polling/poll-schedule.js';
export { pollLearned, type LearnedOptions, type LearnedSchedule } from './policy/polling/learned.js';
export type { PollJob, PollSchedule } from './policy/polling/poll-schedule.js';
export { openGate, rateGate, publishedGate, type KindRates } from './policy/gates/built-in-gates.js';
export { adaptiveGate } from './policy/gates/built-in-gates.js';
export type { Gate, GateAnswer, GateRequest, RequestKind } from './policy/gates/gate.js';
export { createJobIds, type AnsweredId, type JobIds } from './policy/job-ids.js';
export type { Clock } from './policy/client-clock.js';
export type { GateOptions } from './policy/gates/endpoint-gate.js';
export { adaptiveConcurrency } from './policy/gates/adaptive-concurrency.js';
export type { AdaptiveConcurrency, AdaptiveConcurrencyOptions } from './policy/gates/adaptive-concurrency.js';

// Callbacks of the service.
export { createWebhookReceiver } from './webhooks/create-webhook-receiver.js';
export type { OrphanCallback, WebhookCall } from './webhooks/called-jobs.js';
export type { WebhookReceiver, WebhookReceiverOptions } from './webhooks/create-webhook-receiver.js';
export type { NodeAnswer, NodeCall } from './webhooks/answer-calls.js';
export type { CalledPost, Hmac } from './webhooks/callback-tokens.js';
export type { Callback, CallbackResult, JobWebhook, JobWebhooks } from './policy/job-webhook.js';

// The wire.
export type { PhaseTimeouts, Transport, WireReply, WireRequest } from './transport/transport.js';

// The words of the service, as schemas.
export { imageEditInputSchema } from './contract/image-edit.js';
export { imageEditOutputSchema } from './contract/service-replies.js';
export { looseImageEditInputSchema, type ImageEditInput } from './contract/image-edit.js';
export { type ImageEditOutput, jobReplySchema, type JobReply } from './contract/service-replies.js';
export { jobStates, isTerminal, type JobState } from './contract/outcome.js';
export { healthSchema } from './contract/service-replies.js';
export type { Health, Purged } from './contract/service-replies.js';
export type { StandardSchema } from './contract/standard-schema.js';

// What goes wrong.
export { failureCodes, type FailureCode, type QueueFailureCode } from './contract/failure-code.js';
export type { RouteGetFailureCode, RoutePostFailureCode } from './contract/failure-code.js';
export { isMillraceError, MillraceError } from './contract/millrace-error.js';
export { JobError, ChunkGapError, InvalidInputError } from './operators/job-error.js';
export { InvalidOptionError } from './contract/millrace-error.js';
export { TransportError, type FaultPhase } from './transport/transport-error.js';
export {
  BadRequestError,
  MalformedReplyError,
  NotFoundError,
  RateLimitedError,
  RedirectError,
  ReplyError,
  ServerError,
  UnauthorizedError,
  UnexpectedStatusError,
} from './transport/reply-error.js';
export { version } from './contract/version.js';
