import { expect } from 'vitest'
import { expectUsageBilled } from './expect-usage-billed.ts'
import { priceAt, replacedBy, type Facts, type HeldFact, type PaidFact } from './facts.ts'
import type { Player } from './player.ts'

/** Checks that each period had its price, that no time was paid twice, that no setup fee was charged twice, and that all usage except free units was billed. */
export async function expectCharged(player: Player, facts: Facts): Promise<void> {
  expectPrices(facts)
  expectNoTimeTwice(facts)
  expectNoCredits(facts)
  expectSetupFeesOnce(facts)
  await expectUsageBilled(player, facts)
}

/** Checks that each period was charged the price that was in force when it began. */
function expectPrices(facts: Facts): void {
  for (const line of [...facts.paid, ...facts.owed]) {
    if (line.kind !== 'recurring' || line.start === null) continue
    const { plan } = purchaseOf(facts, line)
    expect(line.amountMinor, describe(line)).toBe(BigInt(priceAt(facts, plan, line.start)))
  }
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
