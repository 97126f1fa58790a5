import { expect } from 'vitest'
import { callTool } from './call-tool.ts'
import { boundsOf, recordsOf, type CallFact } from './ledger.ts'
import { remainingUnits, readLimits, type Party } from './party.ts'
import type { Player } from './player.ts'
import { proxyCount } from './world.ts'

/**
 * Waits until all earlier calls are counted. A proxy delivers the records of a provider in order, so a later call of another
 * customer is counted after them. Then the remaining units must match the answered calls.
 */
export async function waitUntilCounted(party: Party): Promise<void> {
  await waitForDelivery(party)
  for (const player of party.players) {
    player.releasedBy = undefined
    if (party.isDeleted || player.limits.planRef === undefined) continue
    await expectRemaining(party, player)
    // The limit check returned the exact number, so no unit is held any more.
    player.leftCalls = 0
  }
}

async function waitForDelivery(party: Party): Promise<void> {
  const { market, waiter } = party
  const { waiting, client } = market
  for (let proxy = 0; proxy < proxyCount; proxy++) {
    party.count += 1
    waiter.calls += 1
    const given = { mark: `${party.name}-${party.count}`, ending: 'result' }
    const call = { player: waiter.player, tool: 'wait', given, era: 'stateless', proxy } as const
    const { ended } = await callTool({ market, url: waiting.url }, call)
    expect(ended.kind).toBe('served')
  }
  const remaining = async () =>
    (await client.checkLimit(waiter.player.reference, waiting.productRef)).remaining
  await expect.poll(remaining, { interval: 10 }).toBe(waiting.limit - waiter.calls)
}

/** Checks that the limit check returns what the answered calls have left, within the bounds. */
async function expectRemaining({ market, productRef }: Party, player: Player): Promise<void> {
  const { least, most } = remainingUnits(player)
  const read = async () => {
    const { remaining } = await market.client.checkLimit(player.reference, productRef)
    return remaining >= Math.max(0, least) && remaining <= Math.max(0, most)
      ? 'as answered'
      : remaining
  }
  const facts = JSON.stringify({ limits: player.limits, least, most, facts: player.facts })
  await expect.poll(read, { interval: 20, timeout: 10_000, message: facts }).toBe('as answered')
}

/** Reads the limits of each customer again after a change. */
export async function readAllLimits(party: Party): Promise<void> {
  await party.market.world.untilNoticed()
  for (const player of party.players) await readLimits(party, player)
}

/** Checks that the records match the answered calls by outcome and by tool, and belong to no other customer. */
export async function expectRecorded(party: Party, from: string, to: string): Promise<void> {
  const { client } = party.market
  const meterRef = await client.requestsMeter()
  for (const { reference: customerRef, facts } of party.players) {
    for (const outcome of ['success', 'fail', 'paywall'] as const) {
      const ofOutcome = facts.filter((fact) => fact.outcome === outcome)
      const query = { customerRef, outcome, from, to }
      const read = async () => compareMeter(await client.meterUsage(meterRef, query), ofOutcome)
      const told = JSON.stringify({ outcome, units: boundsOf(ofOutcome), facts })
      await expect.poll(read, { interval: 50, timeout: 10_000, message: told }).toBe('as answered')
    }
  }
}

/** Returns the expected count and total of a tool's meter. It counts records, so a free repeat counts too. */
export function compareMeter(
  { count, total }: { count: number; total: number },
  facts: readonly CallFact[],
) {
  const [units, records] = [boundsOf(facts), recordsOf(facts)]
  const isAsAnswered =
    total >= units.least && total <= units.most && count >= records.least && count <= records.most
  return isAsAnswered ? 'as answered' : { count, total }
}

export function successesOf(parties: readonly Party[], toolName: string): readonly CallFact[] {
  const facts = parties.flatMap(({ players }) => players.flatMap((player) => player.facts))
  return facts.filter(({ tool, outcome }) => tool === toolName && outcome === 'success')
}
