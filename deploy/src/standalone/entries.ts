import { createRequire } from 'node:module'

const find = createRequire(import.meta.url)

/** Paths of the built program of each service, resolved by package name. */
export const entries = {
  chdbGateway: find.resolve('@tollgate/platform/chdb-gateway/main'),
  billingRunner: find.resolve('@tollgate/billing-runner/main'),
  webhookDispatcher: find.resolve('@tollgate/webhook-dispatcher/main'),
  controlPlane: find.resolve('@tollgate/control-plane/main'),
  aggregator: find.resolve('@tollgate/aggregator/main'),
  ingest: find.resolve('@tollgate/ingest/main'),
  mcpProxy: find.resolve('@tollgate/mcp-proxy/main'),
  stripeSimulator: find.resolve('@tollgate/stripe-simulator/main'),
}
