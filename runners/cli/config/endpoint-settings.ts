import { toPriceList, type PriceList } from '../../batch/ledger/price-list.js';
import type { ManifestSettings } from '../../batch/manifest/manifest-settings.js';
import type { ConfiguredEndpoints } from './configured-endpoint.js';

/** Names of endpoints with what they stand for, as a manifest is read by them. */
export function namedEndpoints(endpoints: ConfiguredEndpoints): NonNullable<ManifestSettings['endpoints']> {
  return Object.fromEntries(
    Object.entries(endpoints).map(([name, { id = name, mode }]) => [name, { id, ...(mode && { mode }) }]),
  );
}

/** The client timeouts of /runsync that are set, by endpoint id, in ms. */
export function executionTimeouts(endpoints: ConfiguredEndpoints): Record<string, number> {
  return Object.fromEntries(
    Object.entries(endpoints).flatMap(([name, { id = name, execution_timeout_ms: ms }]) =>
      ms === undefined ? [] : [[id, ms]],
    ),
  );
}

/** A price list with the prices of the configuration, where it has none of its own. */
export function withEndpointPrices(list: PriceList, endpoints: ConfiguredEndpoints): PriceList {
  const prices = Object.entries(endpoints).flatMap(([name, { id = name, price }]) =>
    price === undefined ? [] : [[id, price] as const],
  );
  if (prices.length === 0) return list;
  const configured = toPriceList({ endpoints: Object.fromEntries(prices) });
  return {
    ...list,
    name: `${list.name}, configuration`,
    endpoints: new Map([...configured.endpoints, ...list.endpoints]),
  };
}
