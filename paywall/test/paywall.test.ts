import { afterAll, afterEach, describe } from 'vitest'
import { describeHost } from './host-contract.ts'
import { describeMcp } from './mcp-contract.ts'
import { describePaywall } from './paywall-contract.ts'
import { openShop } from './sold-product.ts'

/* All tests share one installation, because starting it takes most of the time. */

const shop = await openShop()

afterEach(() => shop.closePaywalls())

afterAll(() => shop.stop())

describe('a paywall', () => describePaywall(() => shop))

describe.each(['express', 'fastify', 'hono', 'mcp sdk', 'mcp server'] as const)(
  'behind %s',
  (framework) => describeHost(framework, () => shop),
)

describe('an MCP server', () => describeMcp(() => shop))
