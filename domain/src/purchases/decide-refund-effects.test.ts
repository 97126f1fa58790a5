import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideRefundEffects } from './decide-refund-effects.ts'
import type { Purchase } from './repository.ts'

/* A customer's purchases of one product in June, one each day. Each replaces the one before. */

const dayMs = 86_400_000
const june = Date.parse('2026-06-01T00:00:00Z')
const onDay = (day: number): Date => new Date(june + day * dayMs)

/** `prorated`: continues the period of the one before for the difference. `full`: charged at full price. `free`: costs nothing. */
type How = 'full' | 'prorated' | 'free'

type Chain = { readonly purchases: readonly Purchase[]; readonly ownPeriods: ReadonlySet<string> }

function chainOf(hows: readonly How[]): Chain {
  let anchor = onDay(0)
  const purchases = hows.map((how, at): Purchase => {
    if (how === 'full' || at === 0) anchor = onDay(at)
    const isLast = at === hows.length - 1
    return {
      reference: `pur_${at}`,
      planRef: `plan_${at}`,
      planSnapshot: null,
      // Like purchases from before `replaces` was stored: they replaced the purchase that ended when they began.
      replaces: null,
      status: isLast ? 'active' : 'expired',
      originalAmountMinor: how === 'free' ? null : 1_900,
      isRecurring: true,
      billingCycle: 'monthly',
      cycleMode: 'calendar',
      anchor,
      startDate: onDay(at),
      createdAt: onDay(at),
      endDate: null,
      endedAt: isLast ? null : onDay(at + 1),
      suspendedAt: null,
      accessRestoredAt: null,
    } as Partial<Purchase> as Purchase
  })
  const own = purchases.filter((_, at) => hows[at] === 'full')
  return { purchases, ownPeriods: new Set(own.map(({ reference }) => reference)) }
}

const anyChain = fc
  .array(fc.constantFrom<How>('full', 'prorated', 'prorated'), { maxLength: 5 })
  .map((rest): How[] => ['full', ...rest])

/** Returns the expected result by the rule: the purchases that end, and the one that the payments up to `at` restore. */
function expectedOf(hows: readonly How[], at: number): { ended: number[]; restored?: number } {
  const nextOwn = hows.findIndex((how, each) => each > at && how === 'full')
  const until = nextOwn === -1 ? hows.length : nextOwn
  const ended = Array.from({ length: until - at - 1 }, (_, index) => at + 1 + index)
  return nextOwn === -1 && at > 0 ? { ended, restored: at - 1 } : { ended }
}

describe('decideRefundEffects', () => {
  test('ends purchases that were charged the difference, and restores the previous one while its period runs', () => {
    const cases = anyChain.chain((hows) =>
      fc.record({ hows: fc.constant(hows), at: fc.nat({ max: hows.length - 1 }) }),
    )
    fc.assert(
      fc.property(cases, ({ hows, at }) => {
        const chain = chainOf(hows)
        const effects = decideRefundEffects(chain, chain.purchases[at]!, () => true, onDay(10))
        const expected = expectedOf(hows, at)
        expect(effects.ended.map(({ reference }) => reference)).toEqual(
          expected.ended.map((each) => `pur_${each}`),
        )
        const { restored } = expected
        expect(effects.restored?.reference).toBe(
          restored === undefined ? undefined : `pur_${restored}`,
        )
      }),
      { numRuns: 1_000 },
    )
  })

  test('restores nothing if an earlier payment of the chain is refunded', () => {
    const chain = chainOf(['full', 'prorated', 'prorated'])
    const isPaid = ({ reference }: Purchase): boolean => reference !== 'pur_0'
    const effects = decideRefundEffects(chain, chain.purchases[2]!, isPaid, onDay(10))
    expect(effects).toMatchObject({ ended: [], restored: undefined })
  })

  test('restores nothing once the period is over', () => {
    const chain = chainOf(['full', 'prorated'])
    const effects = decideRefundEffects(chain, chain.purchases[1]!, () => true, onDay(30))
    expect(effects.restored).toBeUndefined()
  })

  test.each([
    // A change with the renewal: the purchase before was never paid for the period that begins.
    ['a purchase that ended with its period', { endedAt: onDay(30) }],
    ['a trial that ended at its end', { anchor: onDay(14), endedAt: onDay(14) }],
    ['a trial that ended before its end', { anchor: onDay(14), endedAt: onDay(5) }],
  ])('does not restore %s', (_name, fields) => {
    const { purchases, ownPeriods } = chainOf(['full', 'full'])
    const before = { ...purchases[0]!, ...fields }
    const after = { ...purchases[1]!, createdAt: fields.endedAt }
    const history = { purchases: [before, after], ownPeriods }
    const now = new Date(fields.endedAt.getTime() + dayMs)
    expect(decideRefundEffects(history, after, () => true, now).restored).toBeUndefined()
    const kept = { purchases: [{ ...before, anchor: onDay(0), endedAt: onDay(5) }], ownPeriods }
    const next = { ...after, createdAt: onDay(5) }
    const effects = decideRefundEffects(
      { ...kept, purchases: [...kept.purchases, next] },
      next,
      () => true,
      onDay(6),
    )
    expect(effects.restored?.reference).toBe('pur_0')
  })

  test('keeps a free plan that replaced the refunded purchase', () => {
    const chain = chainOf(['full', 'free'])
    const effects = decideRefundEffects(chain, chain.purchases[0]!, () => true, onDay(10))
    expect(effects).toMatchObject({ ended: [], restored: undefined })
    expect(effects.dependents).toHaveLength(1)
  })
})
