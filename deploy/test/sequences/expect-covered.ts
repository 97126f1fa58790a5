import { expect } from 'vitest'
import {
  isKept,
  monthAt,
  priceAt,
  readFacts,
  replacedBy,
  type Facts,
  type HeldFact,
} from './facts.ts'
import { limitOf, listedPriceOf, plans, type PlanName } from './market.ts'
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
  if (listedPriceOf(plan) === 0) return true
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

/**
 * Returns whether the purchase has resumed since the last run of the billing job, after its last paid period had ended. It has access at
 * once, and the next run charges the running period. A purchase that was active in the last run must be paid.
 */
function waitsForRenewal({ paid, active }: Facts, { reference }: HeldFact, now: Date): boolean {
  if (active.has(reference)) return false
  return paid.some(
    ({ purchaseRef, kind, end }) =>
      purchaseRef === reference && kind === 'recurring' && end !== null && end <= now,
  )
}

/** Returns the price of the period that contains the instant, in cents. A purchase that continues a period has the price of its start. */
function priceOf(facts: Facts, { anchor, start, plan }: HeldFact, at: Date): number {
  const { start: periodStart } = monthAt(anchor, at)
  return priceAt(facts, plan, periodStart < start ? start : periodStart)
}

/**
 * Returns the time from which usage counts against the purchase's limit. It is the start of the current period if that was charged
 * in full or began by renewal. Otherwise it is the start of the replaced purchase's period, which this purchase continues.
 */
function allowanceStart(facts: Facts, purchase: HeldFact, now: Date): Date {
  const { start } = monthAt(purchase.anchor, now)
  if (start > purchase.start) return start
  const isChargedInFull = facts.paid.some(
    ({ purchaseRef, kind }) => purchaseRef === purchase.reference && kind === 'recurring',
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
  const paidBefore = paidFor(facts, replaced, purchase.start)
  if (paidBefore === 0) return included
  // Access continues while the charge of the difference is retried.
  const charges = purchase.status === 'past_due' ? [...facts.paid, ...facts.owed] : facts.paid
  const charged = charges.find(
    ({ purchaseRef, kind }) => purchaseRef === purchase.reference && kind === 'proration',
  )
  const difference = priceOf(facts, purchase, purchase.start) - paidBefore
  const share =
    difference > 0
      ? Number(charged?.amountMinor ?? 0n) / difference
      : (end.getTime() - purchase.start.getTime()) / (end.getTime() - start.getTime())
  const before = includedUnits(facts, replaced, purchase.start)
  return before + (included - includedUnitsOf(replaced.plan)) * share
}

/** Returns the price for which the purchase has the period that contains the instant, in cents. */
function paidFor(facts: Facts, purchase: HeldFact, at: Date): number {
  const replaced = replacedBy(facts, purchase)
  const isContinued =
    replaced !== undefined &&
    purchase.start > monthAt(purchase.anchor, at).start &&
    // A change of add-ons begins a purchase of the same plan, which charges the price of the plan no second time.
    (isKept(facts, purchase) || replaced.plan === purchase.plan)
  return isContinued ? paidFor(facts, replaced, at) : priceOf(facts, purchase, at)
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
