/** At most so many reference pictures in one edit. (spec 8) */
export const maxImages = 14;

/** More reference pictures than this make an edit less stable. (spec 2.5) */
export const recommendedImages = 3;

/** Client timeout of /runsync in ms, unless `execution_timeout_ms` is configured. (spec 8) */
export const defaultRunsyncTimeoutMs = 60_000;

/** An edited picture's URL dies so many ms after its creation. (spec 8) */
export const imageUrlLifetimeMs = 7 * 24 * 3_600_000;

/** Largest request body in bytes that live services take. */
export const maxRequestBytes = { run: 10_000_000, runsync: 20_000_000, route: 30_000_000 } as const;

/** Bounds of `?wait=` in ms on /runsync of live services. */
export const waitBoundsMs = { min: 1_000, max: 300_000 } as const;

/** How long live services keep what, in ms: a result after its end, and a job from its submission. */
export const retentionMs = { run: 30 * 60_000, runsync: 60_000, job: 24 * 3_600_000 } as const;
