import { fileURLToPath } from 'node:url'

/** Paths of the bundled program of each service. */
export const servicePrograms = {
  chdbGateway: bundled('platform', 'chdb-gateway/main'),
  billingRunner: bundled('billing-runner', 'main'),
  webhookDispatcher: bundled('webhook-dispatcher', 'main'),
  controlPlane: bundled('control-plane', 'main'),
  aggregator: bundled('aggregator', 'main'),
  ingest: bundled('ingest', 'main'),
  mcpProxy: bundled('mcp-proxy', 'main'),
  stripeSimulator: bundled('stripe-simulator', 'main'),
}

function bundled(workspace: string, program: string): string {
  return fileURLToPath(new URL(`../../../${workspace}/dist/bundled/${program}.js`, import.meta.url))
}
