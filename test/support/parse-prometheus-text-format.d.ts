declare module 'parse-prometheus-text-format' {
  interface Metric {
    readonly labels?: Record<string, string>;
    readonly value?: string;
    readonly buckets?: Record<string, string>;
    readonly sum?: string;
    readonly count?: string;
  }
  /** Throws on what is not of the format. */
  export default function parse(
    text: string,
  ): { readonly name: string; readonly help: string; readonly type: string; readonly metrics: Metric[] }[];
}
