import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EntitledCharge } from '@tollgate/schemas/hot-state/documents'
import {
  answerChargeCheck,
  chargeLimits,
  metersToRead,
  type ChargeCheck,
  type ChargedEntitlement,
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

function answer(check: Partial<ChargeCheck> & Pick<ChargeCheck, 'entitlement'>) {
  const full = { period, meterName: undefined, usedByMeter: new Map(), creditMicros: 0n, ...check }
  const offer = { product: { reference: 'prd_A', name: 'A' }, plans: [] }
  return answerChargeCheck({ ...full, limits: chargeLimits(full), isDetailed: true, offer })
}

const tokens = { key: 'tokens', meterName: 'tokens', cap: '1000000000' }
const images = { key: 'images', meterName: 'images', cap: '3000000' }

describe('a limit check of a plan with charges', () => {
  const entitlement = entitlementOf([tokens, images, { ...images, key: 'more', cap: null }])

  it('reads only the meters with a cap, and only the named one', () => {
    expect(metersToRead(entitlement, undefined)).toEqual(['tokens', 'images'])
    expect(metersToRead(entitlement, 'images')).toEqual(['images'])
    expect(metersToRead(entitlement, 'unknown')).toEqual([])
  })

  it('answers the limit that leaves least if no meter is named', () => {
    const usedByMeter = new Map([
      ['tokens', 999_999_000n],
      ['images', 1_000_000n],
    ])
    expect(answer({ entitlement, usedByMeter })).toMatchObject({
      withinLimits: true,
      remaining: 0.001,
      meterName: 'tokens',
    })
    expect(answer({ entitlement, usedByMeter, meterName: 'images' })).toMatchObject({
      withinLimits: true,
      remaining: 2,
      meterName: 'images',
    })
  })

  it('names the limit that refuses the call, and when it starts again', () => {
    const usedByMeter = new Map([['images', 4_000_000n]])
    const refused = {
      withinLimits: false,
      remaining: 0,
      meterName: 'images',
      blockedBy: { reason: 'cap', charge: 'images', meterName: 'images' },
      resetsAt: '1970-01-01T00:33:20.000Z',
      plans: [],
    }
    expect(answer({ entitlement, usedByMeter })).toMatchObject(refused)
    expect(answer({ entitlement, usedByMeter, meterName: 'images' })).toMatchObject(refused)
    expect(answer({ entitlement, usedByMeter, meterName: 'tokens' })).toMatchObject({
      withinLimits: true,
      remaining: 1000,
    })
    expect(answer({ entitlement, usedByMeter, meterName: 'unknown' })).toMatchObject({
      withinLimits: true,
      remaining: 999_999,
      meterName: 'unknown',
      limits: [],
    })
  })

  it('lists every limit on request', () => {
    const usedByMeter = new Map([['images', 3_000_000n]])
    const { limits } = answer({ entitlement, usedByMeter })
    const resetsAt = '1970-01-01T00:33:20.000Z'
    expect(limits).toEqual([
      { charge: 'tokens', meterName: 'tokens', cap: 1000, used: 0, remaining: 1000, resetsAt },
      {
        charge: 'images',
        meterName: 'images',
        cap: 3,
        used: 3,
        remaining: 0,
        resetsAt,
        blocks: 'cap',
      },
      { charge: 'more', meterName: 'images' },
    ])
  })

  it('has another cap in the first period after a change of plan', () => {
    const changed = entitlementOf([{ ...images, firstPeriodCap: '1000000' }], {
      firstPeriodStartSecond: period.startSecond,
    })
    expect(answer({ entitlement: changed })).toMatchObject({ remaining: 1 })
    const later = { ...period, startSecond: period.endSecond, endSecond: 3_000 }
    expect(answer({ entitlement: changed, period: later })).toMatchObject({ remaining: 3 })
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
      blockedBy: { reason: 'credits', charge: 'calls', meterName: 'calls' },
    })
  })

  it('is within the limits exactly if every charge of the meter leaves something', () => {
    const charge = fc.record({
      key: fc.string(),
      meterName: fc.constantFrom('a', 'b', 'c'),
      cap: fc.option(fc.nat(10).map((units) => String((units + 1) * 1_000_000))),
    })
    const used = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.nat(12))
    const asked = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined })
    fc.assert(
      fc.property(fc.array(charge), used, asked, (charges, amounts, meterName) => {
        const usedByMeter = new Map(
          Object.entries(amounts).map(([name, units]) => [name, BigInt(units) * 1_000_000n]),
        )
        const given = { entitlement: entitlementOf(charges), usedByMeter, meterName }
        const isWithin = charges.every(
          (each) =>
            (meterName !== undefined && meterName !== each.meterName) ||
            each.cap === null ||
            BigInt(each.cap) > (usedByMeter.get(each.meterName) ?? 0n),
        )
        expect(answer(given).withinLimits).toBe(isWithin)
      }),
    )
  })
})
