import type { Entitlement, PlanOffer } from '@tollgate/schemas/hot-state/documents'
import { limitsResponseSchema } from '@tollgate/schemas/http/limits'
import { describe, expect, it } from 'vitest'
import { allowedMicros } from './allowed-units.ts'
import { decideDebit } from './credit-debit.ts'
import { answerLimitCheck, isDenied } from './limit-answer.ts'
import { answerWithoutPurchase } from './no-purchase-answer.ts'

const entitlement = (more: Partial<Entitlement> = {}): Entitlement => ({
  customerRef: 'cus_a',
  purchaseRef: 'pur_A',
  planRef: 'pln_A',
  planType: 'recurring',
  endsAtMs: null,
  cap: '10000000',
  credit: null,
  firstPeriodStartSecond: 0,
  periods: [{ startSecond: 0, endSecond: 1000 }],
  customerRefs: ['cus_a'],
  ...more,
})

const planOffer: PlanOffer = {
  reference: 'pln_B',
  type: 'usage-based',
  price: 0,
  currency: 'USD',
  requiresPayment: true,
  creditsPerUnit: 100,
  pricingOptions: [{ currency: 'USD', price: 0, default: true }],
}
const offer = { product: { reference: 'prd_A', name: 'Reports' }, plans: [planOffer] }
const shown = { plans: [planOffer], product: offer.product }

const credit = { creditsPerUnit: 100, currency: 'USD' }

describe('answerLimitCheck', () => {
  const check = (
    given: Partial<Entitlement>,
    units: number,
    credits = 0n,
    carriedOverMicros = 0n,
  ) => {
    const subject = entitlement(given)
    const period = { startSecond: 100 }
    const input = {
      entitlement: subject,
      usedMicros: BigInt(units * 1_000_000),
      allowedMicros: allowedMicros(subject, period, carriedOverMicros),
      creditMicros: credits * 1_000_000n,
    }
    const answer = answerLimitCheck({ ...input, offer })
    expect(limitsResponseSchema.parse(answer)).toEqual(answer)
    expect(isDenied(input)).toBe(!answer.withinLimits)
    return answer
  }
  const base = { plan: 'pln_A', meterName: 'requests' }

  it.each([
    ['nothing used', 0, 10],
    ['some used', 4, 6],
    ['a fraction used', 9.5, 0.5],
    ['one left', 9, 1],
  ])('allows below the cap: %s', (_name, used, remaining) => {
    expect(check({}, used)).toEqual({ ...base, withinLimits: true, remaining })
  })

  it.each([10, 10.000001, 12])('denies at and above the cap: %d used', (used) => {
    expect(check({}, used)).toEqual({ ...base, withinLimits: false, remaining: 0, ...shown })
  })

  it.each([
    [12, 4_000_000n, 2],
    [14, 4_000_000n, 0],
    [10, 1n, 0.000001],
  ])('adds carried-over units to the cap: %d used, %d remain', (used, left, remaining) => {
    const answer = check({}, used, 0n, left)
    expect(answer).toMatchObject({ withinLimits: remaining > 0, remaining })
  })

  const unbilled = { units: '8000000', isWidened: false, fromSecond: 100 }
  it.each<[string, Partial<Entitlement>, number, bigint, number]>([
    ['below the cap', { unbilled }, 7, 0n, 1],
    ['reached', { unbilled }, 8, 0n, 0],
    ['above the cap', { unbilled: { ...unbilled, units: '20000000' } }, 9, 0n, 1],
    ['without a cap', { cap: null, unbilled }, 7.5, 0n, 0.5],
    ['not widened by what was left', { unbilled }, 8, 5_000_000n, 0],
    ['widened by what was left', { unbilled: { ...unbilled, isWidened: true } }, 8, 5_000_000n, 5],
    ['in a trial, which is not billed', { unbilled: { ...unbilled, fromSecond: 101 } }, 9, 0n, 1],
  ])('allows at most the units that may be unbilled: %s', (_name, given, used, left, remaining) => {
    const answer = check(given, used, 0n, left)
    const denied = remaining > 0 ? {} : shown
    expect(answer).toEqual({ ...base, withinLimits: remaining > 0, remaining, ...denied })
  })

  it('allows any usage without a cap', () => {
    const allowed = { ...base, withinLimits: true, remaining: 999_999 }
    expect(check({ cap: null }, 5_000_000)).toEqual(allowed)
  })

  it.each<[string, string | null, number, bigint, number]>([
    ['credits for five', null, 0, 599n, 5],
    ['credits for five, cap leaves three', '10000000', 7, 500n, 3],
    ['credits for two, cap leaves three', '10000000', 7, 200n, 2],
  ])('allows units that the wallet pays: %s', (_name, cap, used, creditBalance, remaining) => {
    const balance = Number(creditBalance)
    expect(check({ cap, credit }, used, creditBalance)).toEqual({
      ...base,
      withinLimits: true,
      remaining,
      creditBalance: balance,
      ...credit,
      balance: { creditBalance: balance, ...credit, remainingUnits: Math.floor(balance / 100) },
    })
  })

  it.each([0n, 99n])('denies with %d credits, and returns the balance', (creditBalance) => {
    const balance = Number(creditBalance)
    expect(check({ cap: null, credit }, 0, creditBalance)).toEqual({
      ...base,
      withinLimits: false,
      remaining: 0,
      creditBalance: balance,
      ...credit,
      balance: { creditBalance: balance, ...credit, remainingUnits: 0 },
      ...shown,
    })
  })

  it('denies at the cap even if the wallet has credits', () => {
    expect(check({ credit }, 10, 500n)).toMatchObject({ withinLimits: false, remaining: 0 })
  })

  it('returns an empty list of plans if no offer is published', () => {
    const answer = answerLimitCheck({
      entitlement: entitlement({ cap: '0' }),
      usedMicros: 0n,
      allowedMicros: 0n,
      offer: undefined,
      creditMicros: 0n,
    })
    expect(answer).toMatchObject({ withinLimits: false, plans: [] })
  })
})

describe('answerWithoutPurchase', () => {
  const denied = { withinLimits: false, remaining: 0, plan: '', meterName: 'requests', ...shown }
  const answer = (awaitingPlan: PlanOffer | undefined, credits = 0n) =>
    answerWithoutPurchase({ offer, awaitingPlan, creditMicros: credits * 1_000_000n })

  it('denies without a default plan', () => {
    expect(answer(undefined)).toEqual(denied)
  })

  it('requests activation of a usage-based default plan, with the units that the wallet would pay for', () => {
    expect(answer(planOffer, 250n)).toEqual({
      ...denied,
      activationRequired: true,
      balance: { creditBalance: 250, ...credit, remainingUnits: 2 },
    })
    const { creditsPerUnit: _dropped, ...uncharged } = planOffer
    expect(answer(uncharged).balance).toEqual({
      creditBalance: 0,
      creditsPerUnit: 0,
      currency: 'USD',
    })
  })

  it('requests activation of any other default plan without a balance', () => {
    expect(answer({ ...planOffer, type: 'recurring' })).toEqual({
      ...denied,
      activationRequired: true,
    })
  })
})

describe('decideDebit', () => {
  const call = {
    outcome: 'success',
    meterName: 'requests',
    productRef: 'prd_A',
    isKnownCustomer: true,
    entitlement: entitlement({ credit }),
    nowMs: 500_000,
  } as const
  const refused = (reason: string) => ({ kind: 'refused', creditDebit: { debited: false, reason } })

  it('checks in the order of the API', () => {
    const nothing = { productRef: null, isKnownCustomer: false, entitlement: undefined }
    expect(decideDebit({ ...call, ...nothing, outcome: 'paywall' })).toEqual({ kind: 'silent' })
    expect(decideDebit({ ...call, ...nothing, outcome: 'fail' })).toEqual({ kind: 'silent' })
    expect(decideDebit({ ...call, ...nothing })).toEqual(refused('no_product_ref'))
    expect(decideDebit({ ...call, isKnownCustomer: false, entitlement: undefined })).toEqual(
      refused('customer_not_found'),
    )
    expect(decideDebit({ ...call, entitlement: undefined })).toEqual(refused('no_active_purchase'))
    expect(decideDebit({ ...call, nowMs: 1_000_000 })).toEqual(refused('no_active_purchase'))
    expect(decideDebit({ ...call, entitlement: entitlement() })).toEqual(
      refused('plan_not_credit_based'),
    )
    expect(decideDebit({ ...call, meterName: 'tokens' })).toEqual(refused('plan_not_credit_based'))
    expect(decideDebit(call)).toEqual({
      kind: 'due',
      customerRef: 'cus_a',
      price: { creditsPerUnit: 100, currency: 'USD' },
    })
  })
})
