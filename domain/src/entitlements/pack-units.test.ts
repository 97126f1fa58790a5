import type { Entitlement, EntitledPacks } from '@tollgate/schemas/hot-state/documents'
import { windowId } from '@tollgate/schemas/hot-state/documents'
import { describe, expect, test } from 'vitest'
import { packUnits } from './pack-units.ts'

/* Three periods of 1,000 seconds, from second 1,000,000 on, and a plan of 100 units. */

const begin = 1_000_000
const unit = 1_000_000n
const micros = (units: number): string => String(BigInt(units) * unit)
const period = (index: number) => ({
  startSecond: begin + index * 1_000,
  endSecond: begin + (index + 1) * 1_000,
})
const pack = (units: number, endSecond: number | null = null, startSecond = begin) => ({
  ...{ units: micros(units), startSecond, endSecond },
})

function entitled(packs: Partial<EntitledPacks>, more: Partial<Entitlement> = {}): Entitlement {
  const meter = { meterName: 'requests', own: micros(100), paid: [], packs: [pack(50)] }
  return {
    ...{ customerRef: 'cus_1', purchaseRef: 'pur_1', planRef: 'pln_1', planType: 'recurring' },
    ...{ endsAtMs: null, cap: micros(100), credit: null, customerRefs: ['cus_1'] },
    firstPeriodStartSecond: begin,
    periods: [period(0), period(1), period(2)],
    packs: { settledSecond: begin, fromSecond: begin, meters: [meter], ...packs },
    ...more,
  }
}

const meters = (more: object): Partial<EntitledPacks> => ({
  meters: [{ meterName: 'requests', own: micros(100), paid: [], packs: [pack(50)], ...more }],
})

type Used = readonly number[]

/** Returns the units that packs add to the period and those that are left, after usage of each period. */
function unitsIn(entitlement: Entitlement, index: number, used: Used, afterSeconds = 500) {
  const amounts = new Map(
    used.map((units, at) => [windowId('pur_1', period(at).startSecond), BigInt(units) * unit]),
  )
  const nowMs = (period(index).startSecond + afterSeconds) * 1_000
  const units = packUnits(entitlement, 'requests', period(index), amounts, nowMs)
  return units && [Number(units.addedMicros / unit), Number(units.leftMicros / unit)]
}

describe('the units that packs add', () => {
  test.each<[Used, number[]]>([
    [[0], [50, 50]],
    [[100], [50, 50]],
    [[130], [50, 20]],
    [[170], [50, 0]],
  ])('stay the same while they are used: %j', (used, units) => {
    expect(unitsIn(entitled({}), 0, used)).toEqual(units)
  })

  test.each<[Used, number[]]>([
    [
      [130, 0],
      [20, 20],
    ],
    [
      [130, 110],
      [20, 10],
    ],
    [
      [90, 110],
      [50, 40],
    ],
    [
      [400, 110],
      [0, 0],
    ],
  ])('are those that the period before left, before it is settled: %j', (used, units) => {
    expect(unitsIn(entitled({}), 1, used)).toEqual(units)
  })

  test('are not taken again by a period that is settled', () => {
    const settled = { settledSecond: period(0).endSecond, ...meters({ packs: [pack(20)] }) }
    expect(unitsIn(entitled(settled), 1, [130, 0])).toEqual([20, 20])
  })

  test('include what packs have paid for in the period', () => {
    const paid = [{ startSecond: begin, units: micros(30) }]
    const settled = meters({ paid, packs: [pack(20)] })
    expect(unitsIn(entitled(settled), 0, [130])).toEqual([50, 20])
    expect(unitsIn(entitled(settled), 0, [140])).toEqual([50, 10])
    expect(unitsIn(entitled(meters({ paid, packs: [] })), 0, [130])).toEqual([30, 0])
  })

  test('never include a pack that ended or begins later', () => {
    const ends = meters({ packs: [pack(50, begin + 400), pack(30)] })
    expect(unitsIn(entitled(ends), 0, [100], 399)).toEqual([80, 80])
    // What the ended pack paid for counts against the other until it is settled.
    expect(unitsIn(entitled(ends), 0, [120], 400)).toEqual([30, 10])
    const later = meters({ packs: [pack(50, null, period(1).startSecond)] })
    expect(unitsIn(entitled(later), 0, [120])).toEqual([0, 0])
    expect(unitsIn(entitled(later), 1, [120, 0])).toEqual([50, 50])
  })

  test('are none while usage of an earlier purchase, or usage that counters forgot, is not settled', () => {
    expect(unitsIn(entitled({ settledSecond: begin - 1 }), 0, [0])).toEqual([0, 0])
    const shared = { id: 'pur_0@1', fromSecond: begin - 500 }
    const sharing = entitled({ settledSecond: begin - 1 }, { sharedWindow: shared })
    expect(unitsIn(sharing, 0, [])).toEqual([50, 50])
    const longAgo = 33 * 86_400
    expect(unitsIn(entitled({}), 1, [0, 0], longAgo)).toEqual([0, 0])
  })

  test('are none in a trial, and none for a plan without a limit', () => {
    expect(unitsIn(entitled({ fromSecond: begin + 1 }), 0, [120])).toEqual([0, 50])
    expect(unitsIn(entitled(meters({ own: null })), 0, [120])).toEqual([0, 50])
  })

  test('are not known without packs of the meter', () => {
    const { packs: _packs, ...without } = entitled({})
    expect(unitsIn(without, 0, [0])).toBeUndefined()
    expect(unitsIn(entitled(meters({ meterName: 'tokens' })), 0, [0])).toBeUndefined()
  })
})
