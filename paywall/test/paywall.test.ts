import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { describeHost } from './host-contract.ts'
import { describeMcp } from './mcp-contract.ts'
import { describePaywall } from './paywall-contract.ts'
import { openShop, type Shop } from './sold-product.ts'

/* One installation for all of them: most of the time of a test file goes into its start. */

let shop: Shop

beforeAll(async () => {
  shop = await openShop()
})

afterEach(() => shop.closePaywalls())

afterAll(() => shop.stop())

describe('a paywall', () => describePaywall(() => shop))

describe.each(['express', 'fastify', 'hono', 'mcp sdk', 'mcp server'] as const)(
  'behind %s',
  (framework) => describeHost(framework, () => shop),
)

describe('an MCP server', () => describeMcp(() => shop))
