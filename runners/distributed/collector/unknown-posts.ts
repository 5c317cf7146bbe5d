import type { Run } from '../../batch/context/run.js';
import type { IntentRecord, OutcomeRecord } from '../../batch/journal/record.js';
import { noteAnswer } from '../../batch/purchase/note-answer.js';
import { endpointOf, isOtherAnswered } from '../../batch/context/row-slots.js';

/**
 * Stops a run whose requests may all be paid for nothing. Each worker knows its own answers only, and one that stops is
 * followed by a new one, so those of all workers are counted by their records.
 */
export class UnknownPosts {
  /** The requests without an answer, by the ids of their rows. */
  private readonly posts = new Map<string, IntentRecord>();

  constructor(private readonly run: Pick<Run, 'service' | 'stops'>) {}

  sent(post: IntentRecord): void {
    this.posts.set(post.id, post);
  }

  /** The request was provably not taken. */
  refused(id: string): void {
    this.posts.delete(id);
  }

  /** The request was accepted. */
  answered(id: string): void {
    const post = this.posts.get(id);
    if (post !== undefined) this.note(post, post.at, undefined);
  }

  ended({ id, at, ...outcome }: OutcomeRecord): void {
    const post = this.posts.get(id);
    const { code, message } = outcome.status === 'failed' ? outcome.error : {};
    if (post !== undefined) this.note(post, at, code === 'unknown' ? (message ?? code) : undefined);
  }

  private note(post: IntentRecord, at: number, whyUnknown: string | undefined): void {
    const { service, stops } = this.run;
    const { reach } = service;
    this.posts.delete(post.id);
    const endpoint = endpointOf(post);
    if (whyUnknown === undefined) reach.answered(endpoint);
    else reach.notAnswered(endpoint);
    const areOthersAnswered = () =>
      [...this.posts.values()].some((other) => isOtherAnswered(endpointOf(other), endpoint, reach));
    noteAnswer(
      { reach, stops, areOthersAnswered },
      { endpoint: post.endpoint, sentAt: post.at, at, whyUnknown },
    );
  }
}
