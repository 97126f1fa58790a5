import fc from 'fast-check'

export const planNames = ['free', 'other', 'trial', 'paid', 'dear'] as const
export type PlanName = (typeof planNames)[number]

/** The kinds of callers. `bound` and `portal` are pages that a customer has open. */
const callers = ['manage', 'ingest', 'read', 'webhooks', 'bound', 'portal'] as const
export type CallerName = (typeof callers)[number]

/** The actions that every caller tries, including those that it may not do. */
const acts = [
  'check limit',
  'activate',
  'cancel',
  'reactivate',
  'open portal',
  'open checkout',
  'grant credits',
  'issue key',
  'look',
] as const
export type Act = (typeof acts)[number]

export type CallerStep = {
  readonly caller: CallerName
  readonly act: Act
  /** Index of the customer that the step is about. */
  readonly customer: 0 | 1
  readonly plan: PlanName
}

export const anyCallerStep: fc.Arbitrary<CallerStep> = fc.record({
  caller: fc.constantFrom(...callers),
  act: fc.constantFrom(...acts),
  customer: fc.constantFrom(0 as const, 1 as const),
  plan: fc.constantFrom(...planNames),
})
