import { expect } from 'vitest'
import type { McpBootstrappedBody } from '@tollgate/schemas/http/mcp'
import { boundsOf, type Bounds } from './ledger.ts'
import type { Market } from './market.ts'
import { openPlayer, type Player } from './player.ts'

/** Access to a tool: every caller, customers with any plan, or customers with a listed plan or the default plan. */
export type Tool = { access: 'public' | 'every-plan' | 'plans'; planRefs: readonly string[] }

/** A question of the proxy within a call. */
type Question = {
  readonly player: Player
  readonly tool: string
  readonly given: object
  readonly state: string
  /** Expiry in Unix milliseconds. */
  readonly untilMs: number
}

/** One product with its MCP server, and the state that the test expects. */
export type Party = {
  readonly market: Market
  readonly name: string
  readonly productRef: string
  readonly url: string
  readonly planRefs: Readonly<Record<'free' | 'pro' | 'credits', string>>
  /** The configured tools. A tool that the origin no longer lists keeps its access, because the origin may still answer calls of it. */
  readonly tools: Map<string, Tool>
  /** Names of the tools that the origin no longer lists. */
  readonly dropped: Set<string>
  readonly archivedRefs: Set<string>
  readonly players: readonly Player[]
  /** A customer of another product whose calls are used to wait for records. */
  readonly waiter: { readonly player: Player; calls: number }
  /** Open questions, newest last. */
  readonly questions: Question[]
  isDeleted: boolean
  /** Counter for unique names. */
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
    dropped: new Set(),
    archivedRefs: new Set(),
  }
  for (const player of players) await readLimits(party, player)
  return party
}

/** Reads the customer's current limits. All earlier calls must be counted. */
export async function readLimits({ market, productRef }: Party, player: Player): Promise<void> {
  const request = { customerRef: player.reference, productRef }
  const { status, body } = await market.client.send('POST', '/v1/sdk/limits', request)
  const used = usedBy(player)
  if (status !== 200) {
    player.limits = { planRef: undefined, remaining: 0, used }
    return
  }
  const { withinLimits, remaining, plan } = body as LimitsResponse
  expect(remaining > 0, JSON.stringify(body)).toBe(withinLimits)
  player.limits = { planRef: plan, remaining, used }
}

type LimitsResponse = { withinLimits: boolean; remaining: number; plan: string }

function usedBy({ facts }: Player): Bounds {
  return boundsOf(facts.filter(({ outcome }) => outcome === 'success'))
}

/** Returns bounds of the units that are left, based on the calls answered since the limits were read. */
export function remainingUnits(player: Player): Bounds {
  const { remaining, used } = player.limits
  const now = usedBy(player)
  return {
    least: remaining - (now.most - used.least),
    most: remaining - Math.max(0, now.least - used.most),
  }
}

export type Expected = 'gone' | 'open' | 'admitted' | 'paywalled' | 'either'

/** Returns the expected outcome of a call of the tool. */
export function expectedOutcome(party: Party, player: Player, toolName: string): Expected {
  if (party.isDeleted) return 'gone'
  const tool = party.tools.get(toolName)
  if (tool?.access === 'public') return 'open'
  const { planRef } = player.limits
  if (planRef === undefined) return 'gone'
  if (!isOpenToPlan(party, tool, planRef)) return 'paywalled'
  const { least, most } = remainingUnits(player)
  if (least > 0) return 'admitted'
  return most > 0 ? 'either' : 'paywalled'
}

function isOpenToPlan({ planRefs }: Party, tool: Tool | undefined, planRef: string): boolean {
  if (planRef === '') return false
  if (planRef === planRefs.free || tool?.access === 'every-plan') return true
  return tool?.planRefs.includes(planRef) ?? false
}
