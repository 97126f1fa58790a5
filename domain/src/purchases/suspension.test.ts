import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rollsUnitsOver, rollOverSpan } from '../pricing/roll-over.ts'
import { suspensionAfter, type SuspendablePurchase } from './suspension.ts'

const weekMs = 7 * 86_400_000
const anchor = new Date('2026-01-01T00:00:00Z')

const purchase: SuspendablePurchase = {
  anchor,
  billingCycle: 'weekly',
  cycleMode: 'calendar',
  planSnapshot: null,
  startDate: anchor,
  status: 'active',
  suspendedAt: null,
  accessRestoredAt: null,
}

/** Returns the purchase after a transition to the status at that instant. */
function moved(
  given: SuspendablePurchase,
  status: SuspendablePurchase['status'],
  nowMs: number,
): SuspendablePurchase {
  return { ...given, status, ...suspensionAfter(given, status, new Date(nowMs)) }
}

function leaves(given: SuspendablePurchase, endMs: number): boolean {
  return rollsUnitsOver(rollOverSpan(given), endMs / 1000)
}

function weekStart(atMs: number): number {
  return atMs - ((atMs - anchor.getTime()) % weekMs)
}

/** A purchase that is suspended and restored alternately, with a record of each time without access. */
class Story {
  held = purchase
  nowMs = anchor.getTime()
  suspensions: { from: number; until: number }[] = []
  /** Starts of periods that may still be read: the current one, and the one of the last transition. */
  asked = new Set<number>()

  wait(ms: number): void {
    this.nowMs += ms
  }

  turn(): void {
    const isSuspended = this.held.status === 'suspended'
    if (isSuspended) this.suspensions.at(-1)!.until = this.nowMs
    else this.suspensions.push({ from: this.nowMs, until: Infinity })
    this.held = moved(this.held, isSuspended ? 'active' : 'suspended', this.nowMs)
    if (!isSuspended) this.asked.clear()
    this.asked.add(weekStart(this.nowMs))
  }

  check(): void {
    for (const start of new Set([...this.asked, weekStart(this.nowMs)])) {
      const hadAccess = !this.suspensions.some(({ from, until }) => from < start && start <= until)
      expect(leaves(this.held, start)).toBe(start > anchor.getTime() && hadAccess)
    }
  }
}

describe('a suspension', () => {
  test('takes what the period before leaves where that one ended without access, and nowhere else', () => {
    const waits = fc.oneof(fc.integer({ min: 1, max: 20 * 86_400_000 }), fc.constant(weekMs))
    fc.assert(
      fc.property(fc.array(waits, { minLength: 1, maxLength: 12 }), (gaps) => {
        const story = new Story()
        for (const gap of gaps) {
          story.wait(gap)
          story.check()
          story.turn()
          story.check()
        }
      }),
      { interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
    )
  })

  test('is not begun again by what else happens to a purchase that is suspended', () => {
    const at = anchor.getTime() + weekMs / 2
    const suspended = moved(purchase, 'suspended', at)
    expect(moved(suspended, 'suspended', at + weekMs)).toEqual(suspended)
    expect(moved(suspended, 'expired', at + weekMs)).toMatchObject({
      suspendedAt: new Date(at),
      accessRestoredAt: null,
    })
  })

  test('whose beginning nobody noted takes everything that was left before access was back', () => {
    const restored = { ...purchase, accessRestoredAt: new Date(anchor.getTime() + 1.5 * weekMs) }
    const again = moved(restored, 'suspended', anchor.getTime() + 1.7 * weekMs)
    for (const held of [restored, again])
      expect(leaves(held, anchor.getTime() + weekMs)).toBe(false)
    expect(leaves(restored, anchor.getTime() + 2 * weekMs)).toBe(true)
    expect(leaves(again, anchor.getTime() + 2 * weekMs)).toBe(false)
  })
})
