const slotMs = 100;
const slots = 1_000 / slotMs;

/** The rate over the last second, or a little more than a second. */
export interface LastSecond {
  add(now: number): void;
  perSecond(now: number): number;
}

export function createLastSecond(): LastSecond {
  const counts = new Map<number, number>();
  let firstAt: number | undefined;
  const slotOf = (now: number): number => Math.floor(now / slotMs);
  return {
    add(now) {
      firstAt ??= now;
      const slot = slotOf(now);
      counts.set(slot, (counts.get(slot) ?? 0) + 1);
      for (const old of counts.keys()) {
        if (old >= slot - slots && old <= slot) break;
        counts.delete(old);
      }
    },
    perSecond(now) {
      const from = slotOf(now) - slots;
      let sum = 0;
      for (const [slot, count] of counts) if (slot >= from) sum += count;
      return (sum * 1_000) / Math.max(now - Math.max(from * slotMs, firstAt ?? now), slotMs);
    },
  };
}
