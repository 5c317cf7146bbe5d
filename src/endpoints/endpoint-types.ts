import type { SchemaInput, SchemaOutput, StandardSchema } from '../contract/standard-schema.js';

/**
 * Types by endpoint id, for endpoints that are called without a schema:
 *
 * @example
 * ```ts
 * declare module 'millrace' {
 *   interface EndpointTypes {
 *     upscale: { input: { url: string }; output: { url: string } };
 *     narrate: { input: { text: string }; chunk: string };
 *   }
 * }
 * client.queue('upscale').run({ url });
 * ```
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- filled by its users
export interface EndpointTypes {}

/** What an endpoint takes: by its schema, else by its id, else anything. */
export type InputOf<K extends string, S extends StandardSchema | undefined> = S extends StandardSchema
  ? SchemaInput<S>
  : K extends keyof EndpointTypes
    ? EndpointTypes[K] extends { input: infer I }
      ? I
      : unknown
    : unknown;

/** What an endpoint gives: by its schema, else by its id, else anything. */
export type OutputOf<K extends string, S extends StandardSchema | undefined> = S extends StandardSchema
  ? SchemaOutput<S>
  : K extends keyof EndpointTypes
    ? EndpointTypes[K] extends { output: infer O }
      ? O
      : unknown
    : unknown;

/** A chunk of an endpoint's stream: by its id, else anything. */
export type ChunkOf<K extends string> = K extends keyof EndpointTypes
  ? EndpointTypes[K] extends { chunk: infer C }
    ? C
    : unknown
  : unknown;
