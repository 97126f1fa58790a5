import { expect, test } from 'vitest'
import { newCharge, newTier } from './charge-draft.ts'
import { pricedUnits, unitsMaxOf } from './priced-units.ts'

test('the points begin at 0, end at the maximum and include the chosen units', () => {
  const units = pricedUnits(1_000, 333)
  expect([units[0], units.at(-1), units.length, units.includes(333)]).toEqual([0, 1_000, 42, true])
  expect([...units]).toEqual([...new Set(units)].sort((one, other) => one - other))
  expect(pricedUnits(3, 2)).toEqual([0, 1, 2, 3])
})

test('the maximum is beyond the last step of the price', () => {
  const tiers = [{ ...newTier, upTo: '1000' }, newTier]
  const tiered = { ...newCharge, meter: 'tokens', included: '100', tiers }
  const capped = { ...newCharge, meter: 'tokens', cap: '5000' }
  const typed = { ...newCharge, meter: 'calls', cap: 'many' }
  expect(unitsMaxOf({}, [tiered], 'tokens')).toBe(2_200)
  expect(unitsMaxOf({}, [tiered, capped], 'tokens')).toBe(10_000)
  expect(unitsMaxOf({ limit: 7 }, [typed], 'calls')).toBe(10_000)
  expect(unitsMaxOf({ limit: 500, freeUnits: 50 }, [], 'requests')).toBe(1_000)
})
