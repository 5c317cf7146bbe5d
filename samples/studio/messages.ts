// What the server tells a page, and what both ends hold an order to.

/** How a job stands, as a card shows it. Times in ms, money in USD. */
export type CardState =
  | { readonly stage: 'sending' | 'queued' | 'working'; readonly words?: string }
  | {
      readonly stage: 'done';
      readonly imageUrl: string;
      readonly costUsd: number | null;
      readonly waitedMs?: number;
      readonly workedMs?: number;
    }
  | { readonly stage: 'failed'; readonly words: string };

/** All pages of a server share one cap. `heldUsd` is reserved for jobs under way, or for such as may have been paid. */
export interface Money {
  readonly capUsd: number;
  readonly spentUsd: number;
  readonly heldUsd: number;
}

/** A server-sent event. `hello` comes first and names the page to the server. */
export type Message =
  | { readonly type: 'hello'; readonly tab: string }
  | { readonly type: 'money'; readonly money: Money }
  | { readonly type: 'card'; readonly card: string; readonly state: CardState };

export const isEnded = ({ stage }: CardState): boolean => stage === 'done' || stage === 'failed';

export const limits = {
  pictureBytes: 15_000_000,
  promptLetters: 2_000,
  /** Jobs under way, a page. */
  jobs: 24,
  tabs: 20,
  /** Of all pictures that jobs under way refer to. */
  shelfBytes: 200_000_000,
};
