/**
 * Faults of a service that nobody had listed at first. Each is a kind of its own, with its chance a request, and can be
 * played alone: `npm run test:simulate -- 1000 1 stray,absurd-cost`.
 */
export const strangeReplies = [
  /** The reply to a POST or a poll is the one to another request: another job's id, state and output. */
  'stray',
  /** A POST is accepted under an id that an earlier POST to this endpoint was given. */
  'repeated-id',
  /** A job has the id of a job of another endpoint, which is nothing wrong. */
  'shared-id',
  /** The reported cost cannot be true: millions, micro-dollars, negative. */
  'absurd-cost',
  /** For up to 40 s after its submission polls of a job answer 404; now and then a proxy's HTML page does. */
  'lag',
  /** The output is nested 1,100 to 5,000 levels deep. */
  'deep',
  /** 429 on POSTs and polls, whatever their rate, with or without Retry-After. */
  'noise',
  /** All requests to one endpoint fail for up to a minute: 429, 500, or no connection. */
  'ill',
] as const;

export type StrangeReply = (typeof strangeReplies)[number];

/** Those that random schedules play unless they are asked for others. */
export const playedReplies: readonly StrangeReply[] = [
  'stray',
  'repeated-id',
  'shared-id',
  'absurd-cost',
  'lag',
  'noise',
  'ill',
];

/** Costs in USD that a service could report by mistake for something that costs `microDollars`. */
export function absurdCost(microDollars: number, random: () => number): number {
  const costs = [microDollars, microDollars * 1_000, 1_099_512, 2e6, 1e12, 1e300, -0.05, -1e9];
  return costs[Math.floor(random() * costs.length)]!;
}

/** A route's body or a job's reply as text, with a value in its output that is nested so deep. */
export function nestedText(reply: { output?: object; echo?: unknown }, levels: number): string {
  const deep = 'nested here';
  const { output } = reply;
  const text = JSON.stringify(output ? { ...reply, output: { ...output, deep } } : { ...reply, deep });
  return text.replace(JSON.stringify(deep), () => '['.repeat(levels) + ']'.repeat(levels));
}

/** An endpoint that fails for a while. */
export interface Illness {
  readonly endpoint: 'grind' | 'image-edit';
  readonly how: '429' | '500' | 'connect';
  /** Counted from the start of the process, in ms. */
  readonly fromMs: number;
  readonly toMs: number;
}

export function randomIllness(random: () => number): Illness {
  const fromMs = random() * 3_000;
  return {
    endpoint: random() < 0.5 ? 'grind' : 'image-edit',
    how: random() < 0.4 ? '429' : random() < 0.7 ? '500' : 'connect',
    fromMs,
    toMs: fromMs + random() * 60_000,
  };
}
