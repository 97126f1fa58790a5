import { expect } from 'vitest'
import { monthAt, readFacts, replacedBy, type Facts, type HeldFact } from './facts.ts'
import { limitOf, plans, type PlanName } from './market.ts'
import type { Player } from './player.ts'

/** States of a purchase that gives access. The service promises access while it retries a failed charge. */
const open = ['active', 'trialing', 'past_due']

/**
 * Expects that the units that a limit check is about to admit are covered: the plan is paid for the running period or
 * needs no payment, no debt is left behind, and all units since the allowance began stay within one limit.
 */
export async function expectCovered(
  player: Player,
  admittedBy: PlanName,
  units: number,
): Promise<void> {
  const facts = await readFacts(player)
  const told = tell(player, facts)
  const now = player.world.now
  const holders = facts.held.filter(({ status }) => open.includes(status))
  expect(holders.length, `one purchase gives access\n${told}`).toBe(1)
  const [purchase] = holders as [HeldFact]
  expect(purchase.plan, `the answer names the purchase's plan\n${told}`).toBe(admittedBy)
  expect(isPaid(facts, purchase, now), `the running period is paid\n${told}`).toBe(true)
  const limit = limitNow(facts, purchase, now)
  if (limit === undefined) return
  const since = allowanceStart(facts, purchase, now)
  const usedUnits = player.admitted
    .filter(({ at, plan }) => at >= since && limitOf(plan) !== undefined)
    .reduce((sum, each) => sum + each.units, 0)
  expect(usedUnits + units, `since ${since.toISOString()}\n${told}`).toBeLessThanOrEqual(limit)
}

/** Whether a price of the running period was paid, by this purchase or by one that it replaced; or nothing is due. */
function isPaid(facts: Facts, purchase: HeldFact, now: Date): boolean {
  if (purchase.status === 'past_due') return true
  const { plan } = purchase
  if (priceOf(plan) === 0) return true
  if (purchase.status === 'trialing') {
    const first = facts.held.find((each) => each.plan === plan)
    return first?.reference === purchase.reference
  }
  return chainOf(facts, purchase).some(({ reference }) =>
    facts.paid.some(
      (line) =>
        line.purchaseRef === reference &&
        line.kind === 'recurring' &&
        line.start !== null &&
        line.end !== null &&
        line.start <= now &&
        now < line.end,
    ),
  )
}

/** What is due beforehand for a period of the plan, in cents. */
function priceOf(plan: PlanName): number {
  const terms = plans[plan]
  if ('basePrice' in terms) return terms.basePrice
  return 'price' in terms ? terms.price : 0
}

/**
 * From when on usage counts against the purchase's limit: the start of its running period if that was charged in full or
 * began by renewal; the start of the period that the replaced purchase was in, if this one goes on with it.
 */
function allowanceStart(facts: Facts, purchase: HeldFact, now: Date): Date {
  const { start } = monthAt(purchase.anchor, now)
  if (start > purchase.start) return start
  const isChargedInFull = facts.paid.some(
    ({ purchaseRef, kind, amountMinor }) =>
      purchaseRef === purchase.reference &&
      kind === 'recurring' &&
      amountMinor === BigInt(priceOf(purchase.plan)),
  )
  const replaced = replacedBy(facts, purchase)
  if (isChargedInFull || replaced === undefined) return purchase.start
  return monthAt(replaced.anchor, purchase.start).start
}

/**
 * Units that the purchase allows in its running period. If it went on with the period of another one for the difference,
 * each of them gives its units for the part of the period that it is paid for.
 */
function limitNow(facts: Facts, purchase: HeldFact, now: Date): number | undefined {
  const limit = limitOf(purchase.plan)
  if (limit === undefined || purchase.plan === 'hybrid') return limit
  return Math.floor(includedUnits(facts, purchase, now))
}

function includedUnits(facts: Facts, purchase: HeldFact, now: Date): number {
  const included = includedUnitsOf(purchase.plan)
  const { start } = monthAt(purchase.anchor, now)
  const replaced = replacedBy(facts, purchase)
  const goesOn = replaced?.anchor.getTime() === purchase.anchor.getTime()
  if (!goesOn || purchase.start <= start || priceOf(replaced.plan) === 0) return included
  const charged = facts.paid.find(
    ({ purchaseRef, kind }) => purchaseRef === purchase.reference && kind === 'proration',
  )
  const share =
    Number(charged?.amountMinor ?? 0n) / (priceOf(purchase.plan) - priceOf(replaced.plan))
  const before = includedUnits(facts, replaced, purchase.start)
  return before + (included - includedUnitsOf(replaced.plan)) * share
}

/** Units of a month that the plan's price includes. */
function includedUnitsOf(plan: PlanName): number {
  return plan === 'hybrid' ? plans.hybrid.freeUnits : (limitOf(plan) ?? 0)
}

/** The purchase and those that it replaced, one after the other. */
function chainOf(facts: Facts, purchase: HeldFact): readonly HeldFact[] {
  const replaced = replacedBy(facts, purchase)
  return replaced === undefined ? [purchase] : [purchase, ...chainOf(facts, replaced)]
}

function tell({ admitted, world }: Player, { held, paid }: Facts): string {
  const lines = [
    `now ${world.now.toISOString()}`,
    ...held.map((each) => `held ${JSON.stringify(each)}`),
    ...paid.map(({ amountMinor, ...each }) => `paid ${amountMinor} ${JSON.stringify(each)}`),
    ...admitted.map((each) => `admitted ${JSON.stringify(each)}`),
  ]
  return lines.join('\n')
}
