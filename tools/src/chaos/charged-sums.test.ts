import { expect, it } from 'vitest'
import { costMicros } from '../client/charged-product.ts'
import { addRecord, noChargedTotals, type ChargedTotals } from '../load/charged-totals.ts'
import { noLoggedCharges } from './read-log.ts'
import { findChargedDifference, type ChargedSums } from './charged-sums.ts'

const units = { input: 1_000, output: 100, cached: 7, calls: 1, turns: 1 }

function totals(records = 2): ChargedTotals {
  const sum = noChargedTotals()
  for (let record = 0; record < records; record += 1) addRecord(sum, units, costMicros(units))
  return sum
}

function exact(): ChargedSums {
  const { units: summed, debitMicros } = totals()
  return {
    ...{ customerRef: 'ada', isPrepaid: true },
    ...{ sent: totals(), acked: totals(), logged: logged(), stored: totals() },
    ...{ rolledUp: summed, counted: summed },
    wallet: { left: 999_999_998, postedMicros: debitMicros },
    mayBeUndebited: false,
  }
}

function logged(records = 2): ChargedSums['logged'] {
  return { ...noLoggedCharges(), ...totals(records) }
}

it('prices an event over all charges and rounds it once', () => {
  // 300,000 + 150,000 + 212.8 + 250,000 + 1 millionths of a credit.
  expect(costMicros(units)).toBe(700_214n)
  expect(costMicros({ cached: 1 })).toBe(30n)
  expect(costMicros({ cached: 5 })).toBe(152n)
})

it('finds no difference if every place has what was acknowledged', () => {
  expect(findChargedDifference(exact())).toBeUndefined()
})

it.each<[string, (sums: ChargedSums) => Partial<ChargedSums>, RegExp]>([
  [
    'a count lost in hot state',
    ({ counted }) => ({ counted: { ...counted, cached: 7 } }),
    /cached counted 7 instead of 14/,
  ],
  [
    'a count rolled up twice',
    ({ rolledUp }) => ({ rolledUp: { ...rolledUp, calls: 3 } }),
    /calls rolledUp 3 instead of 2/,
  ],
  ['a record lost in ClickHouse', () => ({ stored: totals(1) }), /records stored 1 instead of 2/],
  ['a record twice in the log', () => ({ logged: logged(3) }), /debits logged 2100642 instead/],
  [
    'a debit that is a millionth too small',
    ({ wallet }) => ({ wallet: { ...wallet!, postedMicros: wallet!.postedMicros - 1n } }),
    /debits posted 1400427 instead of 1400428/,
  ],
  [
    'a credit that the wallet lacks',
    ({ wallet }) => ({ wallet: { ...wallet!, left: 999_999_997 } }),
    /credits left 999999997 instead of 999999998/,
  ],
])('reports %s', (_, change, difference) => {
  const sums = exact()
  expect(findChargedDifference({ ...sums, ...change(sums) })).toMatch(difference)
})

it('accepts a record without a debit only after hot state was lost, and counts its units', () => {
  const sums = exact()
  const undebited = { records: 1, dueMicros: costMicros(units) }
  const { debitMicros } = totals(1)
  const changed: ChargedSums = {
    ...sums,
    logged: { ...sums.logged, debitMicros, undebited },
    stored: { ...sums.stored, debitMicros },
    wallet: { left: 999_999_999, postedMicros: debitMicros },
  }
  expect(findChargedDifference(changed)).toMatch(/: 1 records without a debit$/)
  expect(findChargedDifference({ ...changed, mayBeUndebited: true })).toBeUndefined()
  const lost = { ...changed, mayBeUndebited: true, counted: { ...sums.counted, input: 1_000 } }
  expect(findChargedDifference(lost)).toMatch(/input counted 1000 instead of 2000/)
})
