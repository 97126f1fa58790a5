import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dependentsOf, paymentSourcesOf, replacedBy } from './plan-changes.ts'
import type { Purchase } from './repository.ts'

/* Purchases of one product. A model follows their links one by one, and its result is compared with that of the rules. */

const start = Date.parse('2026-06-01T00:00:00Z')
const atSecond = (second: number): Date => new Date(start + second * 1000)

type Change = {
  /** `again`: after a pause without access. */
  readonly how: 'own' | 'prorated' | 'again' | 'suspended'
  /** Seconds until the change. Several changes can happen within one second. */
  readonly after: number
}

type Model = {
  readonly purchases: readonly Purchase[]
  readonly ownPeriods: ReadonlySet<string>
  /** The purchase that each one replaced, by position, and whether it continues that purchase's period. */
  readonly before: readonly (number | undefined)[]
  readonly isProrated: readonly boolean[]
}

function modelOf(changes: readonly Change[]): Model {
  const purchases: Purchase[] = []
  const before: (number | undefined)[] = []
  const isProrated: boolean[] = []
  let second = 0
  let anchor = atSecond(0)
  for (const [at, { how, after }] of changes.entries()) {
    second += after
    const isFollowing = at > 0 && (how === 'own' || how === 'prorated')
    const endedAt = how === 'again' ? atSecond(second - 0.5) : atSecond(second)
    const last = purchases.at(-1)
    if (last !== undefined) {
      const suspendedAt = how === 'suspended' ? atSecond(second) : null
      purchases[at - 1] = { ...last, endedAt, suspendedAt, status: 'expired' }
    }
    if (!isFollowing || how === 'own') anchor = atSecond(second)
    before.push(isFollowing ? at - 1 : undefined)
    isProrated.push(isFollowing && how === 'prorated')
    purchases.push({
      ...{ reference: `pur_${at}`, planRef: 'plan', isRecurring: true, anchor },
      ...{ status: 'active', createdAt: atSecond(second), endedAt: null },
      ...{ suspendedAt: null, accessRestoredAt: null },
      replaces: isFollowing ? `pur_${at - 1}` : null,
    } as Partial<Purchase> as Purchase)
  }
  const own = purchases.filter((_, at) => !isProrated[at])
  return {
    ...{ purchases, before, isProrated },
    ownPeriods: new Set(own.map(({ reference }) => reference)),
  }
}

const change = fc.record({
  how: fc.constantFrom<Change['how']>('own', 'prorated', 'prorated', 'again', 'suspended'),
  after: fc.constantFrom(0, 1, 60),
})

const positionsOf = (purchases: readonly Purchase[]): number[] =>
  purchases.map(({ reference }) => Number(reference.slice('pur_'.length)))

describe('links between purchases', () => {
  test('follow the order of creation, even within one second', () => {
    const cases = fc.array(change, { minLength: 1, maxLength: 12 }).chain((changes) =>
      fc.record({
        model: fc.constant(modelOf(changes)),
        at: fc.nat({ max: changes.length - 1 }),
        seed: fc.infiniteStream(fc.nat()),
      }),
    )
    fc.assert(
      fc.property(cases, ({ model, at, seed }) => {
        const { purchases, ownPeriods, before, isProrated } = model
        const named = purchases[at]!
        // The order in which purchases are read does not matter.
        const keys = new Map(purchases.map((each) => [each, seed.next().value as number]))
        const history = purchases.toSorted((one, other) => keys.get(one)! - keys.get(other)!)
        const link = before[at]
        expect(replacedBy(history, named)?.reference).toBe(
          link === undefined ? undefined : `pur_${link}`,
        )
        const dependents: number[] = []
        for (let next = at + 1; isProrated[next] === true; next += 1) dependents.push(next)
        expect(positionsOf(dependentsOf(history, named, ownPeriods))).toEqual(dependents)
        const carriers = [at]
        for (let each = at; isProrated[each] === true; each -= 1) carriers.push(each - 1)
        expect(positionsOf(paymentSourcesOf(history, named, ownPeriods))).toEqual(carriers)
      }),
      { numRuns: 1_000 },
    )
  })

  test('are found in a history of 20,000 purchases of one period', () => {
    const changes = Array.from({ length: 20_000 }, () => ({ how: 'prorated', after: 1 }) as const)
    const { purchases, ownPeriods } = modelOf(changes)
    expect(dependentsOf(purchases, purchases[0]!, ownPeriods)).toHaveLength(19_999)
    expect(paymentSourcesOf(purchases, purchases.at(-1)!, ownPeriods)).toHaveLength(20_000)
  })

  test('disappear once the previous purchase is active again', () => {
    const { purchases, ownPeriods } = modelOf([
      { how: 'own', after: 0 },
      { how: 'prorated', after: 60 },
    ])
    const [first, second] = purchases as [Purchase, Purchase]
    const restored = { ...first, endedAt: null, status: 'active' as const }
    const history = [restored, { ...second, status: 'refunded' as const }]
    expect(dependentsOf(history, restored, ownPeriods)).toEqual([])
    expect(replacedBy(history, second)).toBeUndefined()
  })
})
