import type { Charge } from '@tollgate/schemas/http/charges'
import { describe, expect, test } from 'vitest'
import { boughtPlan as bought, snapshotOfPlan } from '../../test/bought-plans.ts'
import type { PlanTerms } from '../plans/plan.ts'
import { decideChange } from './decide-switch.ts'

/* Changes of plan within a paid period, from or to plans with charges. */

const june = new Date('2026-06-01T00:00:00Z')
const later = new Date('2026-06-11T00:00:00Z')

let plans = 0

function hybrid(priceMinor: number, terms: PlanTerms) {
  const fields = { type: 'hybrid', basePriceMinor: priceMinor, meterRef: 'mtr_1' } as const
  return snapshotOfPlan(`pln_${(plans += 1)}`, priceMinor, terms, fields)
}

const charge: Charge = { meter: 'tokens', model: 'per_unit', price: '1', per: 'period' }
const priced: PlanTerms = { charges: [charge] }
const including: PlanTerms = { charges: [{ ...charge, included: 100 }] }
const capped: PlanTerms = { charges: [{ ...charge, cap: 100 }] }

function kindOf(before: PlanTerms, after: PlanTerms): string {
  const held = bought(hybrid(1_900, before), june)
  const input = { isFirstCharge: false, currency: undefined, at: later }
  return decideChange({ held, plan: hybrid(4_900, after), ...input }).kind
}

describe('a change of plan within a period', () => {
  test.each<[string, PlanTerms, PlanTerms]>([
    ['to included units of a charge', priced, including],
    ['from included units of a charge', including, priced],
    ['to a cap of a charge', priced, capped],
    ['from included requests to charges', { freeUnits: 100 }, priced],
    ['from charges to included requests', priced, { freeUnits: 100 }],
    ['between included units of charges', including, including],
  ])('waits for the renewal %s', (_, before, after) => {
    expect(kindOf(before, after)).toBe('at-renewal')
  })

  test.each<[string, PlanTerms, PlanTerms]>([
    ['between charges without included units', priced, priced],
    ['from charges without included units to none', priced, {}],
    ['between included requests', { freeUnits: 100 }, { freeUnits: 200 }],
  ])('takes effect at once %s', (_, before, after) => {
    expect(kindOf(before, after)).toBe('now')
  })

  test('begins a period at the full price under the policy `full`', () => {
    expect(kindOf(including, { ...including, prorationPolicy: 'full' })).toBe('own-period')
  })
})
