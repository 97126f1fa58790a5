import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EntitledCharge } from '@tollgate/schemas/hot-state/documents'
import {
  answerChargeCheck,
  limitStates,
  metersToRead,
  type ChargeCheck,
  type ChargedEntitlement,
  type MeterUsage,
} from './charge-limits.ts'

const period = { startSecond: 1_000, endSecond: 2_000 }

function entitlementOf(
  charges: readonly EntitledCharge[],
  more: Partial<ChargedEntitlement> = {},
): ChargedEntitlement {
  return {
    customerRef: 'cus_A',
    purchaseRef: 'pur_A',
    planRef: 'pln_A',
    planType: 'usage-based',
    endsAtMs: null,
    cap: null,
    credit: null,
    firstPeriodStartSecond: 0,
    periods: [period],
    customerRefs: ['cus_A'],
    charges,
    ...more,
  }
}

const nowSecond = 1_500

type Checked = Partial<Omit<ChargeCheck, 'usedByMeter'>> &
  Pick<ChargeCheck, 'entitlement'> & {
    readonly used?: Readonly<Record<string, bigint | MeterUsage>>
  }

function answer({ used = {}, ...check }: Checked) {
  const usedByMeter = new Map(
    Object.entries(used).map(([name, usage]) => [
      name,
      typeof usage === 'bigint' ? { periodMicros: usage, spans: new Map() } : usage,
    ]),
  )
  const defaults = { period, nowSecond, meterName: undefined, creditMicros: 0n }
  const full = { ...defaults, usedByMeter, ...check }
  const offer = { product: { reference: 'prd_A', name: 'A' }, plans: [] }
  return answerChargeCheck({ ...full, states: limitStates(full), isDetailed: true, offer })
}

const tokens = { key: 'tokens', meterName: 'tokens', cap: '1000000000' }
const images = { key: 'images', meterName: 'images', cap: '3000000' }

describe('a limit check of a plan with charges', () => {
  const entitlement = entitlementOf([tokens, images, { ...images, key: 'more', cap: null }])

  it('reads only the meters with a cap, and only the named one', () => {
    const [readTokens, readImages] = ['tokens', 'images'].map((meterName) => ({
      meterName,
      spans: [],
    }))
    expect(metersToRead(entitlement, undefined, nowSecond)).toEqual([readTokens, readImages])
    expect(metersToRead(entitlement, 'images', nowSecond)).toEqual([readImages])
    expect(metersToRead(entitlement, 'unknown', nowSecond)).toEqual([])
  })

  it('answers the limit that leaves least if no meter is named', () => {
    const used = { tokens: 999_999_000n, images: 1_000_000n }
    expect(answer({ entitlement, used })).toMatchObject({
      withinLimits: true,
      remaining: 0.001,
      meterName: 'tokens',
    })
    expect(answer({ entitlement, used, meterName: 'images' })).toMatchObject({
      withinLimits: true,
      remaining: 2,
      meterName: 'images',
    })
  })

  it('names the limit that refuses the call, and when it starts again', () => {
    const used = { images: 4_000_000n }
    const refused = {
      withinLimits: false,
      remaining: 0,
      meterName: 'images',
      blockedBy: { reason: 'cap', limit: 'images', meterName: 'images' },
      resetsAt: '1970-01-01T00:33:20.000Z',
      plans: [],
    }
    expect(answer({ entitlement, used })).toMatchObject(refused)
    expect(answer({ entitlement, used, meterName: 'images' })).toMatchObject(refused)
    expect(answer({ entitlement, used, meterName: 'tokens' })).toMatchObject({
      withinLimits: true,
      remaining: 1000,
    })
    expect(answer({ entitlement, used, meterName: 'unknown' })).toMatchObject({
      withinLimits: true,
      remaining: 999_999,
      meterName: 'unknown',
      limits: [],
    })
  })

  it('lists every limit on request', () => {
    const used = { images: 3_000_000n }
    const { limits } = answer({ entitlement, used })
    const resetsAt = '1970-01-01T00:33:20.000Z'
    expect(limits).toEqual([
      { limit: 'tokens', meterName: 'tokens', cap: 1000, used: 0, remaining: 1000, resetsAt },
      {
        limit: 'images',
        meterName: 'images',
        cap: 3,
        used: 3,
        remaining: 0,
        resetsAt,
        blocks: 'cap',
      },
      { limit: 'more', meterName: 'images' },
    ])
  })

  it('counts what the wallet pays for at the highest rate', () => {
    const debit = { creditsPerUnit: '0.5', rows: [{ when: { model: 'xl' }, creditsPerUnit: '2' }] }
    const paid = entitlementOf([{ key: 'calls', meterName: 'calls', cap: null, debit }, images], {
      credit: { creditsPerUnit: 0, currency: 'USD' },
    })
    expect(
      answer({ entitlement: paid, meterName: 'calls', creditMicros: 5_900_000n }),
    ).toMatchObject({
      withinLimits: true,
      remaining: 2,
      creditBalance: 5,
      creditsPerUnit: 0.5,
      balance: { creditBalance: 5, remainingUnits: 2, currency: 'USD' },
    })
    expect(answer({ entitlement: paid, creditMicros: 1_999_999n })).toMatchObject({
      withinLimits: false,
      remaining: 0,
      blockedBy: { reason: 'credits', limit: 'calls', meterName: 'calls' },
    })
  })

  it('is within the limits exactly if every charge of the meter leaves something', () => {
    const charge = fc.record({
      key: fc.string(),
      meterName: fc.constantFrom('a', 'b', 'c'),
      cap: fc.option(fc.nat(10).map((units) => String((units + 1) * 1_000_000))),
    })
    const usedUnits = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.nat(12))
    const asked = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined })
    fc.assert(
      fc.property(fc.array(charge), usedUnits, asked, (charges, amounts, meterName) => {
        const used = Object.fromEntries(
          Object.entries(amounts).map(([name, units]) => [name, BigInt(units) * 1_000_000n]),
        )
        const given = { entitlement: entitlementOf(charges), used, meterName }
        const isWithin = charges.every(
          (each) =>
            (meterName !== undefined && meterName !== each.meterName) ||
            each.cap === null ||
            BigInt(each.cap) > (used[each.meterName] ?? 0n),
        )
        expect(answer(given).withinLimits).toBe(isWithin)
      }),
    )
  })
})

describe('limits in windows of time', () => {
  const hour = {
    key: 'hourly',
    meterName: 'tokens',
    cap: '100000000',
    window: { kind: 'hour' },
  } as const
  const rolling = {
    key: 'burst',
    meterName: 'tokens',
    cap: '10000000',
    window: { kind: 'rolling', seconds: 100 },
  } as const
  const entitlement = entitlementOf([tokens], { limits: [hour, rolling] })
  const usage = (hourMicros: bigint, buckets: ReadonlyMap<number, bigint>): MeterUsage => ({
    periodMicros: hourMicros,
    spans: new Map([
      ['hourly', { usedMicros: hourMicros, buckets: new Map([[0, hourMicros]]) }],
      ['burst', { usedMicros: [...buckets.values()].reduce((a, b) => a + b, 0n), buckets }],
    ]),
  })

  it('are read beside the period, each from its first bucket', () => {
    expect(metersToRead(entitlement, undefined, nowSecond)).toEqual([
      {
        meterName: 'tokens',
        spans: [
          { id: 'hourly', specId: 'hour', fromBucket: 0, fromSecond: 0 },
          { id: 'burst', specId: 'rolling 100', fromBucket: 1_401, fromSecond: 1_401 },
        ],
      },
    ])
  })

  it('decide by the one that leaves least', () => {
    expect(answer({ entitlement, used: { tokens: usage(95_000_000n, new Map()) } })).toMatchObject({
      withinLimits: true,
      remaining: 5,
    })
    const buckets = new Map([[1_450, 9_000_000n]])
    expect(answer({ entitlement, used: { tokens: usage(95_000_000n, buckets) } })).toMatchObject({
      withinLimits: true,
      remaining: 1,
    })
  })

  it('refuse until a calendar window ends', () => {
    expect(answer({ entitlement, used: { tokens: usage(100_000_000n, new Map()) } })).toMatchObject(
      {
        withinLimits: false,
        blockedBy: { reason: 'cap', limit: 'hourly', meterName: 'tokens' },
        resetsAt: '1970-01-01T01:00:00.000Z',
      },
    )
  })

  it('refuse until enough of the oldest usage has left a rolling window', () => {
    const buckets = new Map([
      [1_410, 2_000_000n],
      [1_460, 4_000_000n],
      [1_500, 5_000_000n],
    ])
    const refused = answer({ entitlement, used: { tokens: usage(0n, buckets) } })
    // 1 unit too many: the 2 units of second 1410 must have left, which is 100 seconds later.
    expect(refused).toMatchObject({
      withinLimits: false,
      remaining: 0,
      blockedBy: { limit: 'burst' },
      resetsAt: new Date(1_510_000).toISOString(),
    })
  })

  it('tell the latest reset if several refuse', () => {
    const buckets = new Map([[1_410, 12_000_000n]])
    expect(answer({ entitlement, used: { tokens: usage(100_000_000n, buckets) } })).toMatchObject({
      blockedBy: { limit: 'hourly' },
      resetsAt: '1970-01-01T01:00:00.000Z',
    })
  })
})
