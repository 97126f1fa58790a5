import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { McpPlanInput } from '@tollgate/schemas/http/mcp'
import { requiresPayment, type Plan } from '../plans/plan.ts'
import { decidePlans, fallbackPlan, plansByKey, type PlanStep } from './decide-plans.ts'

const context = { defaultCurrency: 'USD', requestsMeterRef: 'mtr_A', rates: new Map() }
const made = new Date(0)
const keys = ['free', 'pro', 'team', 'payg']

const anInput: fc.Arbitrary<McpPlanInput> = fc
  .record(
    {
      key: fc.constantFrom(...keys),
      name: fc.constantFrom('A', 'B'),
      price: fc.constantFrom(0, 900),
      currency: fc.constant('usd'),
      type: fc.constantFrom('recurring' as const, 'usage-based' as const, 'one-time' as const),
      creditsPerUnit: fc.constantFrom(0, 5),
      limit: fc.constantFrom(0, 100),
      freeUnits: fc.constantFrom(0, 10),
    },
    { requiredKeys: ['key', 'name', 'price', 'currency'] },
  )
  .filter(({ type, price, creditsPerUnit = 0 }) => {
    const isUsageBased = type === undefined ? creditsPerUnit > 0 : type === 'usage-based'
    // Every price that the plan names is charged.
    return isUsageBased ? price === 0 || creditsPerUnit > 0 : creditsPerUnit === 0
  })

const someInputs = fc.uniqueArray(anInput, { selector: ({ key }) => key, maxLength: 4 })

/** Returns the plans after the configuration is applied, without the retired ones. */
function apply(plans: readonly Plan[], inputs: readonly McpPlanInput[]): Plan[] {
  const decision = decidePlans(plans, { inputs, defaultPlanKey: undefined }, context)
  if (decision.kind === 'refused') throw new Error(decision.message)
  return decision.steps.flatMap(planAfter)
}

let drawn = 0

function planAfter(step: PlanStep): Plan[] {
  if (step.kind === 'retire') return []
  if (step.kind !== 'create') return [step.plan]
  drawn += 1
  const place = { reference: `pln_${drawn}`, productRef: 'prd_A' }
  return [{ ...step.draft, ...place, createdAt: made, updatedAt: made }]
}

const isFree = (plan: Plan): boolean => !requiresPayment(plan)

test('keeps the plans of the last configuration, and an earlier free plan', () => {
  fc.assert(
    fc.property(someInputs, someInputs, (first, second) => {
      const before = apply([], first)
      const after = apply(before, second)
      const named = new Set(second.map(({ key }) => key))
      const others = after.filter(({ key }) => !named.has(key ?? ''))
      expect(others.length).toBeLessThanOrEqual(1)
      expect(others.every(isFree)).toBe(true)
      expect(after.filter(({ key }) => named.has(key ?? ''))).toHaveLength(second.length)
      for (const input of second) {
        const plan = plansByKey(after).get(input.key)!
        expect([plan.name, plan.priceMinor, plan.currency]).toEqual([
          input.name,
          input.price,
          'USD',
        ])
        expect(plan.terms.limit).toBe(input.limit)
      }
      // Customers on a free plan never lose their access without notice.
      const wasFree = before.find((plan) => isFree(plan) && !named.has(plan.key ?? ''))
      if (wasFree !== undefined) expect(after.some(isFree)).toBe(true)
    }),
  )
})

test('keeps the reference of a plan with the same key and type, and changes nothing the second time', () => {
  fc.assert(
    fc.property(someInputs, someInputs, (first, second) => {
      const before = apply([], first)
      const after = apply(before, second)
      for (const plan of before) {
        const again = after.find(({ key, type }) => key === plan.key && type === plan.type)
        if (again !== undefined) expect(again.reference).toBe(plan.reference)
      }
      const request = { inputs: second, defaultPlanKey: undefined }
      const settled = apply(after, second)
      const decision = decidePlans(settled, request, context)
      expect(decision.kind === 'accepted' && decision.steps.map(({ kind }) => kind)).toEqual(
        settled.map(() => 'keep'),
      )
    }),
  )
})

test('makes at most one plan the default, preferably the free plan, to which tools fall back', () => {
  fc.assert(
    fc.property(someInputs, someInputs, (first, second) => {
      const after = apply(apply([], first), second)
      const defaults = after.filter(({ isDefault }) => isDefault)
      expect(defaults.length).toBeLessThanOrEqual(1)
      if (after.some(isFree)) expect(defaults.map(isFree)).toEqual([true])
      expect(fallbackPlan(after)).toBe(defaults[0])
    }),
  )
})

test('accepts a named default plan only if it is free or usage-based', () => {
  const pro = { key: 'pro', name: 'Pro', price: 900, currency: 'USD' }
  const payg = { key: 'payg', name: 'Usage', price: 0, currency: 'USD', creditsPerUnit: 5 }
  const decide = (defaultPlanKey: string) =>
    decidePlans([], { inputs: [pro, payg], defaultPlanKey }, context)
  const named = decide('payg')
  expect(named.kind === 'accepted' && named.steps.flatMap(planAfter)).toMatchObject([
    { key: 'pro', isDefault: false },
    { key: 'payg', isDefault: true },
  ])
  expect(decide('pro')).toMatchObject({ kind: 'refused', code: 'PLAN_NOT_ALLOWED_AS_DEFAULT' })
  expect(decide('gold').kind).toBe('accepted')
})

test('names the request fields of prices that are never charged', () => {
  const free = { key: 'free', name: 'Free', price: 0, currency: 'USD' }
  const payg = {
    key: 'payg',
    name: 'Usage',
    price: 900,
    currency: 'USD',
    type: 'usage-based',
  } as const
  const request = { inputs: [free, payg], defaultPlanKey: undefined }
  expect(decidePlans([], request, context)).toMatchObject({
    kind: 'refused',
    issues: [{ path: ['plans', 1, 'price'] }, { path: ['plans', 1, 'creditsPerUnit'] }],
  })
})
