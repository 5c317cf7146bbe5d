/** Put in when the page is bundled: resolution → USD. */
declare const PRICES_USD: Record<string, number>;

export const pricesUsd: Readonly<Record<string, number>> = PRICES_USD;
