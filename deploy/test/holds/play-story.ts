import { setTimeout as sleep } from 'node:timers/promises'
import { createSeededRandom } from '../../../tools/src/client/seeded-random.ts'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { HoldCaller, type HoldStory } from './hold-caller.ts'
import { HoldLedger, type Amounts } from './hold-ledger.ts'
import { cappedMeters, createMarket, meters, type MarketMeters } from './hold-market.ts'
import { HoldRequests } from './hold-requests.ts'

export type StoryOptions = {
  readonly clients: { readonly client: TollgateClient; readonly impatient: TollgateClient }
  readonly meters: MarketMeters
  readonly seed: number
  readonly isPrepaid: boolean
}

export type StorySize = { readonly callers: number; readonly actsPerCaller: number }

const settledWithinMs = 30_000
const pollMs = 100

/** Creates a customer and its limits. Nothing may be killed meanwhile. */
export async function openStory({
  clients,
  seed,
  isPrepaid,
  ...options
}: StoryOptions): Promise<HoldStory> {
  const random = createSeededRandom(seed)
  const market = await createMarket(clients.client, options.meters, random, isPrepaid)
  let keys = 0
  return {
    ...{ seed, market, ledger: new HoldLedger(market.caps), countedAtMs: 0 },
    requests: new HoldRequests(clients, options.meters, market),
    newKey: () => `${seed}:${keys++}`,
    problems: [],
    tally: new Map(),
  }
}

/** Plays a story to its end, and compares everything that was acknowledged with counters, ClickHouse and wallet. */
export async function playStory(story: HoldStory, size: StorySize): Promise<void> {
  const callers = Array.from({ length: size.callers }, (_, number) => {
    return new HoldCaller(story, createSeededRandom(story.seed + number + 1))
  })
  await Promise.all(
    callers.map(async (caller) => {
      for (let act = 0; act < size.actsPerCaller; act += 1) await caller.act()
      await caller.end()
    }),
  )
  story.problems.push(...(await compareEnd(story)))
}

async function compareEnd(story: HoldStory): Promise<string[]> {
  const { ledger, requests, market } = story
  await sleep(Math.max(0, ledger.allGoneAtMs - Date.now()))
  const { acked } = ledger
  const wrong = await waitForNone(async () => [
    ...wrongCounts(acked, await requests.check()),
    ...wrongStored(acked, await requests.stored()),
  ])
  const credits = market.caps.find(({ series }) => series === 'credits')
  if (credits !== undefined) {
    const left = Math.floor((credits.cap - (acked['credits'] ?? 0)) / 1_000_000)
    const { creditBalance } = await requests.check()
    if (creditBalance !== left) wrong.push(`the wallet has ${creditBalance} credits, not ${left}`)
  }
  return [...wrong, ...(await wrongRests(story))]
}

function wrongCounts(
  acked: Amounts,
  { limits = [] }: { readonly limits?: readonly { limit: string; used?: number }[] },
): string[] {
  const expected = { ...acked, rolling: acked['output'], monthly: acked['calls'] } as Amounts
  return limits.flatMap(({ limit, used }) => {
    const own = expected[limit] ?? 0
    return used === undefined || used === own ? [] : [`${limit} counted ${used}, acked ${own}`]
  })
}

function wrongStored(acked: Amounts, stored: Amounts): string[] {
  return meters.flatMap((meter) => {
    const own = acked[meter] ?? 0
    return stored[meter] === own ? [] : [`ClickHouse has ${stored[meter]} ${meter}, acked ${own}`]
  })
}

/** Holds exactly what is left under each cap, and not a unit more: so no hold stayed, and none was lost. */
async function wrongRests({ market, ledger, requests, newKey }: HoldStory): Promise<string[]> {
  const { acked } = ledger
  const credits = market.caps.find(({ series }) => series === 'credits')
  const problems: string[] = []
  for (const { series, cap } of market.caps) {
    const left = cap - (acked[series] ?? 0)
    if (series === 'credits' || left < 0) continue
    const above = await requests.hold({ [series]: left + 1 }, 1, newKey())
    if (above.body.withinLimits) problems.push(`more than the ${left} ${series} left were held`)
    // A wallet may leave less than the cap.
    if (left === 0 || credits !== undefined) continue
    const exact = await requests.hold({ [series]: left }, 60, newKey())
    if (!exact.body.withinLimits) problems.push(`the ${left} ${series} left cannot be held`)
    else await requests.release(exact.body.reservation!.id)
  }
  const areLeft = cappedMeters.every((meter) => capOf(market.caps, meter) > (acked[meter] ?? 0))
  if (credits === undefined || !areLeft) return problems
  const left = credits.cap - (acked['credits'] ?? 0)
  const above = await requests.hold({ credits: left + 1 }, 1, newKey())
  if (above.body.withinLimits) problems.push(`more than the ${left} credits left were held`)
  if (left <= 0) return problems
  const exact = await requests.hold({ credits: left }, 60, newKey())
  if (!exact.body.withinLimits) problems.push(`the ${left} credits left cannot be held`)
  return problems
}

function capOf(caps: HoldStory['market']['caps'], series: string): number {
  return caps.find((each) => each.series === series)!.cap
}

/** Repeats a comparison until it finds nothing, because projections may lag, and returns what is wrong at the deadline. */
async function waitForNone(compare: () => Promise<string[]>): Promise<string[]> {
  const deadline = Date.now() + settledWithinMs
  for (;;) {
    const wrong = await compare()
    if (wrong.length === 0 || Date.now() > deadline) return wrong
    await sleep(pollMs)
  }
}
