import { expect } from 'vitest'
import { isKept, monthAt, readFacts, replacedBy, type Facts, type HeldFact } from './facts.ts'
import { limitOf, plans, type PlanName } from './market.ts'
import type { Player } from './player.ts'

/** Statuses of a purchase that gives access. Access continues while a failed charge is retried. */
const open = ['active', 'trialing', 'past_due']

/**
 * Checks that the units which a limit check admits are covered: the plan is paid for the current period or needs no payment, no
 * unpaid invoice exists, and all units since the allowance began are within one limit.
 */
export async function expectCovered(
  player: Player,
  admittedBy: PlanName,
  units: number,
): Promise<void> {
  const facts = await readFacts(player)
  const told = describeCoverage(player, facts)
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

/** Returns whether a price of the current period was paid by this purchase or one that it replaced, or nothing is due. */
function isPaid(facts: Facts, purchase: HeldFact, now: Date): boolean {
  if (purchase.status === 'past_due') return true
  const { plan } = purchase
  if (priceOf(plan) === 0) return true
  if (purchase.status === 'trialing') {
    const first = facts.held.find((each) => each.plan === plan)
    return first?.reference === purchase.reference
  }
  if (isKept(facts, purchase) && now < monthAt(purchase.anchor, purchase.start).end) return true
  if (waitsForRenewal(facts, purchase, now)) return true
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

/** The clock moves less than this between two runs of the billing job, other than by a pause. */
const roundMs = 3_600_000

/**
 * Returns whether the purchase has only just resumed because its oldest period was settled after its end. The next run of the billing
 * job charges the periods since then.
 */
function waitsForRenewal({ paid }: Facts, { reference }: HeldFact, now: Date): boolean {
  return paid.some(
    ({ purchaseRef, kind, end, changedAt }) =>
      purchaseRef === reference &&
      kind === 'recurring' &&
      end !== null &&
      end <= now &&
      end < changedAt &&
      now.getTime() - changedAt.getTime() < roundMs,
  )
}

/** Returns the price of a period that is due in advance, in cents. */
function priceOf(plan: PlanName): number {
  const terms = plans[plan]
  if ('basePrice' in terms) return terms.basePrice
  return 'price' in terms ? terms.price : 0
}

/**
 * Returns the time from which usage counts against the purchase's limit. It is the start of the current period if that was charged
 * in full or began by renewal. Otherwise it is the start of the replaced purchase's period, which this purchase continues.
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
 * Returns the units that the purchase allows in its current period. If it continues the period of another purchase for the price
 * difference, each of them adds units for the part of the period that it is paid for.
 */
function limitNow(facts: Facts, purchase: HeldFact, now: Date): number | undefined {
  const limit = limitOf(purchase.plan)
  if (limit === undefined || purchase.plan === 'hybrid') return limit
  return Math.floor(includedUnits(facts, purchase, now))
}

function includedUnits(facts: Facts, purchase: HeldFact, now: Date): number {
  const included = includedUnitsOf(purchase.plan)
  const { start, end } = monthAt(purchase.anchor, now)
  const replaced = replacedBy(facts, purchase)
  const goesOn = replaced?.anchor.getTime() === purchase.anchor.getTime()
  if (!goesOn || purchase.start <= start || isKept(facts, purchase)) return included
  const paidBefore = paidFor(facts, replaced)
  if (paidBefore === 0) return included
  // Access continues while the charge of the difference is retried.
  const charges = purchase.status === 'past_due' ? [...facts.paid, ...facts.owed] : facts.paid
  const charged = charges.find(
    ({ purchaseRef, kind }) => purchaseRef === purchase.reference && kind === 'proration',
  )
  const difference = priceOf(purchase.plan) - paidBefore
  const share =
    difference > 0
      ? Number(charged?.amountMinor ?? 0n) / difference
      : (end.getTime() - purchase.start.getTime()) / (end.getTime() - start.getTime())
  const before = includedUnits(facts, replaced, purchase.start)
  return before + (included - includedUnitsOf(replaced.plan)) * share
}

/** Returns the price for which the purchase has its running period, in cents. */
function paidFor(facts: Facts, purchase: HeldFact): number {
  const replaced = replacedBy(facts, purchase)
  if (replaced === undefined || !isKept(facts, purchase)) return priceOf(purchase.plan)
  return paidFor(facts, replaced)
}

/** Returns the units per month that the plan's price includes. */
function includedUnitsOf(plan: PlanName): number {
  return plan === 'hybrid' ? plans.hybrid.freeUnits : (limitOf(plan) ?? 0)
}

/** Returns the purchase and those that it replaced, newest first. */
function chainOf(facts: Facts, purchase: HeldFact): readonly HeldFact[] {
  const replaced = replacedBy(facts, purchase)
  return replaced === undefined ? [purchase] : [purchase, ...chainOf(facts, replaced)]
}

function describeCoverage({ admitted, world }: Player, { held, paid }: Facts): string {
  const lines = [
    `now ${world.now.toISOString()}`,
    ...held.map((each) => `held ${JSON.stringify(each)}`),
    ...paid.map(({ amountMinor, ...each }) => `paid ${amountMinor} ${JSON.stringify(each)}`),
    ...admitted.map((each) => `admitted ${JSON.stringify(each)}`),
  ]
  return lines.join('\n')
}
