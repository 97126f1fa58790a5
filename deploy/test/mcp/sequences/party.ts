import { expect } from 'vitest'
import type { McpBootstrappedBody } from '@tollgate/schemas/http/mcp'
import { boundsOf, type Bounds } from './ledger.ts'
import type { Market } from './market.ts'
import { openPlayer, type Player } from './player.ts'

/** Who may call a tool, by the contract: everybody, holders of a plan, or holders of those named and of the default plan. */
export type Tool = { access: 'public' | 'every-plan' | 'plans'; planRefs: readonly string[] }

/** What the proxy asked instead of ending a call. */
type Question = {
  readonly player: Player
  readonly tool: string
  readonly given: object
  readonly state: string
  /** Unix milliseconds. */
  readonly untilMs: number
}

/** One product with its MCP server, and what the test knows of it without asking the service. */
export type Party = {
  readonly market: Market
  readonly name: string
  readonly productRef: string
  readonly url: string
  readonly planRefs: Readonly<Record<'free' | 'pro' | 'credits', string>>
  /** As the provider has configured them; a tool that the origin no longer has is not among them. */
  readonly tools: Map<string, Tool>
  readonly dropped: Map<string, Tool>
  readonly archivedRefs: Set<string>
  readonly players: readonly Player[]
  /** Calls another product, to wait for records. */
  readonly waiter: { readonly player: Player; calls: number }
  /** Newest last. */
  readonly questions: Question[]
  isDeleted: boolean
  /** Counts what needs a name of its own. */
  count: number
}

const plan = { currency: 'USD', billingCycle: 'monthly' } as const

const plans = [
  { key: 'free', name: 'Free', price: 0, limit: 6, ...plan },
  { key: 'pro', name: 'Pro', price: 900, limit: 9, ...plan },
  {
    ...{ key: 'credits', name: 'By use', price: 0, currency: 'USD', type: 'usage-based' },
    ...{ billingModel: 'pre-paid', creditsPerUnit: 100 },
  },
]

export const originTools = ['open', 'basic', 'pro', 'new', 'Basic']

export async function openParty(market: Market, name: string): Promise<Party> {
  const { world, client } = market
  world.origin.list(name, originTools)
  const { product, mcpServer, planMap } = (await client.require(
    'POST',
    '/v1/sdk/products/mcp/bootstrap',
    {
      originUrl: world.origin.urlOf(name),
      name,
      plans,
      defaultPlanKey: 'free',
      tools: [
        { name: 'open', noPlan: true },
        { name: 'basic', planKeys: ['free', 'pro', 'credits'] },
        { name: 'pro', planKeys: ['pro'] },
      ],
    },
  )) as McpBootstrappedBody
  const refOf = (key: string): string => planMap[key]!.reference
  const planRefs = { free: refOf('free'), pro: refOf('pro'), credits: refOf('credits') }
  const players = [
    await openPlayer(world, client, product.reference),
    await openPlayer(world, client, product.reference),
  ]
  const party: Party = {
    waiter: { player: await openPlayer(world, client, market.waiting.productRef), calls: 0 },
    ...{ market, name, planRefs, players, questions: [], isDeleted: false, count: 0 },
    ...{ productRef: product.reference, url: mcpServer.mcpProxyUrl },
    tools: new Map<string, Tool>([
      ['open', { access: 'public', planRefs: [] }],
      ['basic', { access: 'plans', planRefs: Object.values(planRefs) }],
      ['pro', { access: 'plans', planRefs: [planRefs.pro] }],
    ]),
    dropped: new Map(),
    archivedRefs: new Set(),
  }
  for (const player of players) await readLimits(party, player)
  return party
}

/** Reads what the customer may use from now on. All calls before must have been counted. */
export async function readLimits({ market, productRef }: Party, player: Player): Promise<void> {
  const asked = { customerRef: player.reference, productRef }
  const { status, body } = await market.client.send('POST', '/v1/sdk/limits', asked)
  const used = usedBy(player)
  if (status !== 200) {
    player.limits = { planRef: undefined, remaining: 0, used }
    return
  }
  const { withinLimits, remaining, plan } = body as Answered
  expect(remaining > 0, JSON.stringify(body)).toBe(withinLimits)
  player.limits = { planRef: plan, remaining, used }
}

type Answered = { withinLimits: boolean; remaining: number; plan: string }

function usedBy({ facts }: Player): Bounds {
  return boundsOf(facts.filter(({ outcome }) => outcome === 'success'))
}

/** Units that are left by the calls that have been answered since the limits were read. */
export function leftOf(player: Player): Bounds {
  const { remaining, used } = player.limits
  const now = usedBy(player)
  return {
    least: remaining - (now.most - used.least),
    most: remaining - Math.max(0, now.least - used.most),
  }
}

export type Expected = 'gone' | 'open' | 'admitted' | 'paywalled' | 'either'

/** What has to become of a call of the tool. */
export function expectationOf(party: Party, player: Player, toolName: string): Expected {
  if (party.isDeleted) return 'gone'
  const tool = party.tools.get(toolName)
  if (tool?.access === 'public') return 'open'
  const { planRef } = player.limits
  if (planRef === undefined) return 'gone'
  if (!isOpenToPlan(party, tool, planRef)) return 'paywalled'
  const { least, most } = leftOf(player)
  if (least > 0) return 'admitted'
  return most > 0 ? 'either' : 'paywalled'
}

function isOpenToPlan({ planRefs }: Party, tool: Tool | undefined, planRef: string): boolean {
  if (planRef === '') return false
  if (planRef === planRefs.free || tool?.access === 'every-plan') return true
  return tool?.planRefs.includes(planRef) ?? false
}
