/** The most reference pictures of one edit. (spec 8) */
export const maxImages = 14;

/** More reference pictures than this make an edit less stable. (spec 2.5) */
export const recommendedImages = 3;

/** Client timeout of /runsync in ms, unless `execution_timeout_ms` is configured. (spec 8) */
export const defaultRunsyncTimeoutMs = 60_000;

/** The lifetime of an edited picture's URL in ms, from its creation. (spec 8) */
export const imageUrlLifetimeMs = 7 * 24 * 3_600_000;

/** The largest request body, in bytes, that live services accept. */
export const maxRequestBytes = { run: 10_000_000, runsync: 20_000_000, route: 30_000_000 } as const;

/** Bounds of `?wait=` in ms on /runsync of live services. */
export const waitBoundsMs = { min: 1_000, max: 300_000 } as const;

/** How long live services keep a result after the job's end (`run`, `runsync`), and a job after its submission (`job`), in ms. */
export const retentionMs = { run: 30 * 60_000, runsync: 60_000, job: 24 * 3_600_000 } as const;
