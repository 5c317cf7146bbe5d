// What the server tells a page, and what both ends hold an order to.

/** How a job stands, as a card shows it. Times in ms, money in USD. */
export type CardState =
  | { readonly phase: 'sending' | 'queued' | 'working'; readonly words?: string }
  | {
      readonly phase: 'done';
      readonly imageUrl: string;
      readonly costUsd: number | null;
      readonly waitedMs?: number;
      readonly workedMs?: number;
    }
  | { readonly phase: 'failed'; readonly words: string };

/** All pages of a server share one cap. `heldUsd` is reserved for jobs under way, or for such as may have been paid. */
export interface Money {
  readonly capUsd: number;
  readonly spentUsd: number;
  readonly heldUsd: number;
  /** The service is the emulator: these sums are what a real one would take. */
  readonly isRehearsal: boolean;
}

/** A server-sent event. `hello` comes first and names the page to the server. */
export type Message =
  | { readonly type: 'hello'; readonly tab: string }
  | { readonly type: 'money'; readonly money: Money }
  | { readonly type: 'card'; readonly card: string; readonly state: CardState };

export const isEnded = ({ phase }: CardState): boolean => phase === 'done' || phase === 'failed';

export const limits = {
  pictureBytes: 15_000_000,
  promptLetters: 2_000,
  /** Jobs under way, a page. */
  jobs: 24,
  tabs: 20,
  /** Of all pictures that jobs under way refer to. */
  shelfBytes: 200_000_000,
};

/** `$0.0875`, `$1.50`: at least cents, at most what a price list has. */
export function formatUsd(usd: number): string {
  return `$${usd.toFixed(4).replace(/0{1,2}$/, '')}`;
}
