import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Paths of the built program of each service, resolved by package name. */
export const servicePrograms = {
  chdbGateway: require.resolve('@tollgate/platform/chdb-gateway/main'),
  billingRunner: require.resolve('@tollgate/billing-runner/main'),
  webhookDispatcher: require.resolve('@tollgate/webhook-dispatcher/main'),
  controlPlane: require.resolve('@tollgate/control-plane/main'),
  aggregator: require.resolve('@tollgate/aggregator/main'),
  ingest: require.resolve('@tollgate/ingest/main'),
  mcpProxy: require.resolve('@tollgate/mcp-proxy/main'),
  stripeSimulator: require.resolve('@tollgate/stripe-simulator/main'),
}
