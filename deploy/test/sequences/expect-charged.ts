import { expect } from 'vitest'
import { environment } from '../money/environment.ts'
import { readFacts, replacedBy, type Facts, type HeldFact, type PaidFact } from './facts.ts'
import { plans, type PlanName } from './market.ts'
import type { Player } from './player.ts'

const dayMs = 86_400_000

/** Checks that no time was paid twice, that no setup fee was charged twice, and that all usage except free units was billed. */
export async function expectCharged(player: Player): Promise<void> {
  const facts = await readFacts(player)
  expectNoTimeTwice(facts)
  expectNoCredits(facts)
  expectSetupFeesOnce(facts)
  await expectUsageBilled(player, facts)
}

/**
 * Checks that no time is paid twice while a purchase is held. A purchase that replaces a paid one is charged in full only if its
 * plan starts a new period.
 */
function expectNoTimeTwice(facts: Facts): void {
  const periods = facts.paid.filter(({ kind, start }) => kind === 'recurring' && start !== null)
  for (const [at, one] of periods.entries()) {
    for (const other of periods.slice(0, at)) {
      expect(isPaidTwice(facts, one, other), `${describe(one)} ${describe(other)}`).toBe(false)
    }
  }
}

function isPaidTwice(facts: Facts, one: PaidFact, other: PaidFact): boolean {
  if (one.start! >= other.end! || other.start! >= one.end!) return false
  if (one.purchaseRef === other.purchaseRef) return true
  const [earlier, later] = one.start! < other.start! ? [one, other] : [other, one]
  const first = purchaseOf(facts, earlier)
  const second = purchaseOf(facts, later)
  if (replacedBy(facts, second) === first) return second.plan !== 'restart'
  if (replacedBy(facts, first) === second) return first.plan !== 'restart'
  return first.endedAt === null || first.endedAt > later.start!
}

function purchaseOf({ held }: Facts, { purchaseRef }: PaidFact): HeldFact {
  return held.find(({ reference }) => reference === purchaseRef)!
}

function describe({ amountMinor, ...line }: PaidFact): string {
  return `${amountMinor} ${JSON.stringify(line)}`
}

/** Checks that no change was credited. Each paid plan includes units, and it is unknown how many of them will be used. */
function expectNoCredits({ paid }: Facts): void {
  const credits = paid.filter(({ kind, amountMinor }) => kind === 'proration' && amountMinor < 0n)
  expect(credits.map(describe)).toEqual([])
}

function expectSetupFeesOnce(facts: Facts): void {
  const fees = facts.paid
    .filter(({ kind }) => kind === 'setup_fee')
    .map((line) => purchaseOf(facts, line).plan)
  expect(new Set(fees).size, `set-up fees of ${fees.join()}`).toBe(fees.length)
}

/** Cents per unit of the plans that are billed afterwards. */
const centsPerUnit: Partial<Record<PlanName, bigint>> = { cheap: 1n, dear: 2n, committed: 1n }

/** Maximum free units per month, whatever plans are held in it. */
const freeUnitsMax = plans.cheap.freeUnits

async function expectUsageBilled({ world, market, customer, admitted }: Player, { held }: Facts) {
  const used = admitted.filter(({ plan }) => centsPerUnit[plan] !== undefined)
  if (used.length === 0) return
  const usedUnits = used.reduce((sum, { units }) => sum + BigInt(units), 0n)
  const sql = world.stores.postgres.database.in(environment)
  const bills = await sql<{ purchaseRef: string; amount: bigint }[]>`
    select purchase_ref as "purchaseRef", sum(amount)::bigint as amount
    from invoice_lines join invoices
      on invoices.provider_id = invoice_lines.provider_id and reference = invoice_ref
    where invoices.provider_id = ${market.providerId} and customer_ref = ${customer.reference}
      and kind in ('usage', 'late_usage') group by purchase_ref`
  let billedUnits = 0n
  for (const { purchaseRef, amount } of bills) {
    const { plan } = held.find(({ reference }) => reference === purchaseRef)!
    const cents = centsPerUnit[plan]
    if (cents !== undefined) billedUnits += amount / cents
  }
  const times = used.map(({ at }) => at.getTime())
  const months = Math.floor((Math.max(...times) - Math.min(...times)) / (28 * dayMs)) + 2
  const freeUnits = usedUnits - billedUnits
  expect(freeUnits, `${usedUnits} used, ${billedUnits} billed`).toBeGreaterThanOrEqual(0n)
  expect(freeUnits, `${usedUnits} used, ${billedUnits} billed`).toBeLessThanOrEqual(
    BigInt(months * freeUnitsMax),
  )
}
