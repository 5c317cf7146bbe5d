/** Ranks in rising order; they come and go at the ends nearly always. */
export interface RankQueue {
  add(rank: number): void;
  first(): number | undefined;
  removeFirst(): number | undefined;
}

export function createRankQueue(): RankQueue {
  let ranks: number[] = [];
  let gone = 0;
  return {
    add(rank: number) {
      let place = ranks.length;
      while (place > gone && (ranks[place - 1] ?? 0) > rank) place -= 1;
      if (place > gone && ranks[place - 1] === rank) return;
      ranks.splice(place, 0, rank);
    },
    first: () => ranks[gone],
    removeFirst() {
      const rank = ranks[gone];
      if (rank !== undefined) gone += 1;
      if (gone > 256 && gone * 2 > ranks.length) {
        ranks = ranks.slice(gone);
        gone = 0;
      }
      return rank;
    },
  };
}
