import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readMcpProxyConfig } from '@tollgate/mcp-proxy/config'
import { createMcpProxy, type McpProxy } from '@tollgate/mcp-proxy/service'
import { systemClock } from '@tollgate/platform/clock/clock'
import { createLogger } from '@tollgate/platform/observability/logger'
import { freePort } from '@tollgate/platform/testing/free-ports'
import type { McpBootstrappedBody } from '@tollgate/schemas/http/mcp'
import { startPayingStack, type PayingStack } from '../pages/paying.ts'
import { fetchAgentToken } from '../../../tools/src/client/agent-token.ts'

/** A product whose MCP server is behind the proxy. */
export type PaidServer = {
  readonly productRef: string
  readonly proxyUrl: string
  /** Plan references by plan key. */
  readonly plans: Readonly<Record<string, string>>
}

/** All services of one provider with the MCP proxy, a browser, and the simulator of Stripe. */
export type McpStack = {
  readonly paying: PayingStack
  /** Configures the origin behind the proxy. Without `tools`, the product has the tools that the origin lists. */
  serve(originUrl: string, fields?: object): Promise<PaidServer>
  createCustomer(): Promise<string>
  /** Activates the free plan with the given key for the customer. */
  activate(server: PaidServer, customerRef: string, planKey: string): Promise<void>
  /** Returns an access token for a program that acts on behalf of the customer. */
  tokenOf(server: PaidServer, customerRef: string): Promise<string>
  /** Returns the customer's recorded units with the outcome. */
  countCalls(customerRef: string, outcome: 'success' | 'fail' | 'paywall'): Promise<number>
  stopProxy(): Promise<void>
  startProxy(): Promise<void>
  stop(): Promise<void>
}

const hourMs = 3_600_000

export async function startMcpStack(
  settings: Readonly<Record<string, string>> = {},
): Promise<McpStack> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-mcp-stack-'))
  const port = await freePort()
  const shared = {
    TOLLGATE_MCP_PORT: String(port),
    TOLLGATE_MCP_LIVE_URL: `http://127.0.0.1:${port}/mcp/{subdomain}`,
    TOLLGATE_MCP_SANDBOX_URL: `http://127.0.0.1:${port}/sandbox/mcp/{subdomain}`,
    TOLLGATE_SERVICE_SECRET: randomBytes(32).toString('base64url'),
    TOLLGATE_SECRET_KEYS: `test:${randomBytes(32).toString('base64')}`,
    TOLLGATE_OUTBOUND_ALLOWED: '127.0.0.1',
    ...settings,
  }
  const paying = await startPayingStack({ settings: shared })
  const { database, baseUrl } = paying.stack
  const config = readMcpProxyConfig({
    ...shared,
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_DATABASE_URL: 'postgres://is-opened-already',
    TOLLGATE_INGEST_URL: baseUrl,
    TOLLGATE_CONTROL_PLANE_URL: baseUrl,
    TOLLGATE_MCP_FRESH_MS: '100',
    TOLLGATE_MCP_CANCEL_GRACE_MS: '200',
    TOLLGATE_ADMIN_PORT: '0',
  })
  let proxy: McpProxy | undefined
  const startProxy = async (): Promise<void> => {
    const logger = createLogger('mcp-proxy', 'warn')
    proxy = createMcpProxy(config, { clock: systemClock, logger, database })
    await proxy.start()
  }
  const stopProxy = async (): Promise<void> => {
    await proxy?.stop()
    proxy = undefined
  }
  await startProxy()
  const { send } = paying
  let customers = 0
  return {
    paying,
    startProxy,
    stopProxy,
    async serve(originUrl, fields = {}) {
      const body = { originUrl, name: `Server ${randomUUID()}`, ...fields }
      const answer = await send('POST', '/v1/sdk/products/mcp/bootstrap', body)
      const { product, mcpServer, planMap } = answer as unknown as McpBootstrappedBody
      return {
        productRef: product.reference,
        proxyUrl: mcpServer.mcpProxyUrl,
        plans: Object.fromEntries(
          Object.entries(planMap).map(([key, { reference }]) => [key, reference]),
        ),
      }
    },
    async createCustomer() {
      customers += 1
      const customer = { email: `customer${customers}@customers.test` }
      return (await send('POST', '/v1/sdk/customers', customer))['reference'] as string
    },
    async activate({ productRef, plans }, customerRef, planKey) {
      await send('POST', '/v1/sdk/activate', { customerRef, productRef, planRef: plans[planKey] })
    },
    tokenOf: ({ productRef }, customerRef) =>
      fetchAgentToken(paying.client, { productRef, customerRef }),
    async countCalls(customerRef, outcome) {
      const meterRef = await paying.client.requestsMeter()
      const [from, to] = [-hourMs, hourMs].map((ms) => new Date(Date.now() + ms).toISOString())
      const query = { customerRef, outcome, from: from!, to: to! }
      const { count } = await paying.client.meterUsage(meterRef, query)
      return count
    },
    async stop() {
      await stopProxy()
      await paying.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
