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
function afterMove(
  given: SuspendablePurchase,
  status: SuspendablePurchase['status'],
  nowMs: number,
): SuspendablePurchase {
  return { ...given, status, ...suspensionAfter(given, status, new Date(nowMs)) }
}

function leavesRest(given: SuspendablePurchase, endMs: number): boolean {
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
  readable = new Set<number>()

  wait(ms: number): void {
    this.nowMs += ms
  }

  toggle(): void {
    const isSuspended = this.held.status === 'suspended'
    if (isSuspended) this.suspensions.at(-1)!.until = this.nowMs
    else this.suspensions.push({ from: this.nowMs, until: Infinity })
    this.held = afterMove(this.held, isSuspended ? 'active' : 'suspended', this.nowMs)
    if (!isSuspended) this.readable.clear()
    this.readable.add(weekStart(this.nowMs))
  }

  check(): void {
    for (const start of new Set([...this.readable, weekStart(this.nowMs)])) {
      const hadAccess = !this.suspensions.some(({ from, until }) => from < start && start <= until)
      expect(leavesRest(this.held, start)).toBe(start > anchor.getTime() && hadAccess)
    }
  }
}

describe('suspensionAfter', () => {
  test('removes the rest of a period only if the period ended without access', () => {
    const waits = fc.oneof(fc.integer({ min: 1, max: 20 * 86_400_000 }), fc.constant(weekMs))
    fc.assert(
      fc.property(fc.array(waits, { minLength: 1, maxLength: 12 }), (gaps) => {
        const story = new Story()
        for (const gap of gaps) {
          story.wait(gap)
          story.check()
          story.toggle()
          story.check()
        }
      }),
      { interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
    )
  })

  test('keeps the start of a suspension through other transitions', () => {
    const at = anchor.getTime() + weekMs / 2
    const suspended = afterMove(purchase, 'suspended', at)
    expect(afterMove(suspended, 'suspended', at + weekMs)).toEqual(suspended)
    expect(afterMove(suspended, 'expired', at + weekMs)).toMatchObject({
      suspendedAt: new Date(at),
      accessRestoredAt: null,
    })
  })

  test('removes all carried units if the start of the suspension is not recorded', () => {
    const restored = { ...purchase, accessRestoredAt: new Date(anchor.getTime() + 1.5 * weekMs) }
    const again = afterMove(restored, 'suspended', anchor.getTime() + 1.7 * weekMs)
    for (const held of [restored, again])
      expect(leavesRest(held, anchor.getTime() + weekMs)).toBe(false)
    expect(leavesRest(restored, anchor.getTime() + 2 * weekMs)).toBe(true)
    expect(leavesRest(again, anchor.getTime() + 2 * weekMs)).toBe(false)
  })
})
