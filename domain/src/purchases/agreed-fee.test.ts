import { expect, test } from 'vitest'
import { boughtPlan, snapshotOfPlan } from '../../test/bought-plans.ts'
import { withoutSetupFee } from '../pricing/plan-prices.ts'
import { withAgreedFee } from './agreed-fee.ts'
import { planAfterChange } from './offered-plan.ts'

const started = new Date('2026-06-01T00:00:00Z')
const trialEnd = new Date('2026-06-15T00:00:00Z')
const small = snapshotOfPlan('small', 3_000, {}, { setupFeeMinor: 2_500 })
const big = snapshotOfPlan('big', 9_000, {}, { setupFeeMinor: 8_000 })

test.each([
  ['the fee of its plan', undefined, 2_500],
  ['no fee if none is agreed', 0, null],
  ['the fee that is agreed', 1_100, 1_100],
])('a trial that changes to another plan or other terms has %s', (_, setupFee, fee) => {
  const prices = setupFee === undefined ? [] : [{ planRef: 'small', setupFee }]
  const version = { since: started.toISOString(), charges: [], usageLimits: [], prices }
  const trial = boughtPlan(small, trialEnd, {
    ...{ status: 'trialing', startDate: started, overrides: [version] },
  })
  const toBig = withAgreedFee(withoutSetupFee(big), trial, trialEnd)
  expect(toBig.setupFeeMinor).toBe(fee)
  const terms = withAgreedFee(withoutSetupFee({ ...small, priceMinor: 3_300 }), trial, trialEnd)
  expect(planAfterChange(terms, trial, trialEnd)).toMatchObject({
    ...{ priceMinor: 3_300, setupFeeMinor: fee ?? 0 },
  })
})
