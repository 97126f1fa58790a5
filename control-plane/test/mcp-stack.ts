import { expect } from 'vitest'
import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import { metersDocumentKey, type PublishedMeters } from '@tollgate/schemas/hot-state/documents'
import type {
  McpBootstrappedBody,
  McpConfiguredBody,
  McpDiscoveredBody,
} from '@tollgate/schemas/http/mcp'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { startMcpOrigin, type McpOrigin } from './mcp-origin.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

type Refusal = { readonly code: string }

export const free = { key: 'free', name: 'Free', price: 0, currency: 'USD' }
export const pro = {
  key: 'pro',
  name: 'Pro',
  price: 900,
  currency: 'USD',
  billingCycle: 'monthly',
}
export const payg = {
  key: 'payg',
  name: 'Pay as you go',
  price: 0,
  currency: 'USD',
  creditsPerUnit: 5,
}

/** The API for one provider, with an MCP server as the origin of its products, and functions that read the results. */
export class McpStack {
  readonly stack: TestStack
  readonly origin: McpOrigin
  tenant: Tenant

  private constructor(stack: TestStack, origin: McpOrigin, tenant: Tenant) {
    this.stack = stack
    this.origin = origin
    this.tenant = tenant
  }

  static async start(): Promise<McpStack> {
    const stack = await startTestStack({
      settings: {
        TOLLGATE_OUTBOUND_ALLOWED: '127.0.0.1',
        TOLLGATE_MCP_SANDBOX_URL: 'https://{subdomain}.mcp.tollgate.test/mcp',
      },
    })
    return new McpStack(stack, await startMcpOrigin(), await stack.createTenant())
  }

  async stop(): Promise<void> {
    await this.origin.stop()
    await this.stack.stop()
  }

  /** Creates another provider, and resets the origin. */
  async renew(): Promise<void> {
    this.tenant = await this.stack.createTenant()
    this.origin.tools = [{ name: 'search', description: 'Finds things' }, { name: 'fetch' }]
    this.origin.auth = undefined
    this.origin.pageSize = 100
  }

  call<Body>(method: string, path: string, body?: object) {
    return this.stack.call<Body & Refusal>(this.tenant.sandboxKey, method, path, body)
  }

  bootstrap(body: object = {}) {
    const path = '/v1/sdk/products/mcp/bootstrap'
    return this.call<McpBootstrappedBody>('POST', path, { originUrl: this.origin.url, ...body })
  }

  configure(productRef: string, body: object) {
    return this.call<McpConfiguredBody>('PUT', `/v1/sdk/products/${productRef}/mcp/plans`, body)
  }

  discover(productRef: string) {
    return this.call<McpDiscoveredBody>('POST', `/v1/ui/products/${productRef}/mcp/discover`)
  }

  async product(productRef: string): Promise<ProductBody> {
    return (await this.call<ProductBody>('GET', `/v1/sdk/products/${productRef}`)).body
  }

  /** Returns the statuses of the tools' meters, by name. */
  async meters(): Promise<Record<string, string>> {
    const { body } = await this.call<{ meters: MeterBody[] }>('GET', '/v1/ui/meters')
    const tools = body.meters.filter(({ name }) => name.startsWith('tool:'))
    return Object.fromEntries(tools.map(({ name, status }) => [name, status]))
  }

  /** Returns the statuses of the tools' meters that the data plane knows, by name. */
  async publishedMeters(): Promise<Record<string, string>> {
    const key = metersDocumentKey('sandbox', this.tenant.providerId)
    const { meters } = JSON.parse((await this.stack.hotState.readDocument(key))!) as PublishedMeters
    const tools = Object.entries(meters).filter(([name]) => name.startsWith('tool:'))
    return Object.fromEntries(tools.map(([name, { status }]) => [name, status]))
  }

  async eventTypes(): Promise<string[]> {
    const pool = this.stack.database.in('sandbox')
    const events = await listOutboxEvents(pool, this.tenant.providerId, 1000)
    return events.map(({ type }) => type)
  }

  /** Returns the stored access to each tool: its plans, or the word for access without a plan. */
  async access(productRef: string): Promise<Record<string, string | string[]>> {
    const rows = await this.stack.database.in('sandbox')<
      { name: string; access: string; plan_refs: string[] }[]
    >`select name, access, plan_refs from mcp_tools
      where provider_id = ${this.tenant.providerId} and product_ref = ${productRef}`
    return Object.fromEntries(
      rows.map((row) => [row.name, row.access === 'plans' ? row.plan_refs : row.access]),
    )
  }

  /** Creates a customer with the plan. */
  async buy(productRef: string, planRef: string): Promise<void> {
    const customer = { email: `${Math.random()}@customers.test`, name: 'Ada' }
    const { body } = await this.call<{ reference: string }>('POST', '/v1/sdk/customers', customer)
    const request = { customerRef: body.reference, productRef, planRef }
    const answer = await this.call<{ status: string }>('POST', '/v1/sdk/activate', request)
    expect(answer.body.status).toBe('activated')
  }
}
