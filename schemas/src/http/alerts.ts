import { z } from 'zod'
import { alertPercentMax, alertThresholdsMax, amountMinorMax } from '../limits.ts'
import { currencyCode, pageQuery, positiveQuantity, quantity, requiredReference } from './fields.ts'

/* Schemas of `/v1/sdk/alerts` and of the budgets of a customer. */

export const alertSubjects = ['limit', 'wallet', 'spend'] as const
type AlertSubject = (typeof alertSubjects)[number]

const thresholdSchema = z
  .object({
    /** Percent of the limit, or of the customer's budget for `spend`. Above 100 only where usage can exceed it. */
    percent: z.int().min(1).max(alertPercentMax).optional(),
    /** Units of the limit's meter. */
    units: positiveQuantity.optional(),
    /** Credits that are left in the wallet. */
    credits: quantity.optional(),
    /** Minor units of `currency` that the usage of the period costs. */
    amountMinor: z.int().min(1).max(amountMinorMax).optional(),
    /** For `amountMinor`. The threshold counts for plans of this currency. */
    currency: currencyCode.optional(),
  })
  .refine(
    ({ percent, units, credits, amountMinor }) =>
      [percent, units, credits, amountMinor].filter((each) => each !== undefined).length === 1,
    { error: 'Exactly one of `percent`, `units`, `credits` and `amountMinor` is required' },
  )
  .refine(({ amountMinor, currency }) => (amountMinor === undefined) === (currency === undefined), {
    error: '`currency` goes with `amountMinor`',
    path: ['currency'],
  })

export type ThresholdInput = z.infer<typeof thresholdSchema>

/** An empty list turns off a less specific alert. */
const thresholds = z.array(thresholdSchema).max(alertThresholdsMax)

export const alertCreateSchema = z
  .object({
    watches: z.enum(alertSubjects),
    /** Key of a charge or of a limit, or `requests` for a plan without charges. Default: every limit. */
    limit: requiredReference.optional(),
    /** At most one of the two. Without them, the alert is the default for all customers. */
    planRef: requiredReference.optional(),
    customerRef: requiredReference.optional(),
    thresholds,
  })
  .superRefine((alert, context) => {
    for (const { path, message } of faultsOfAlert(alert)) {
      context.addIssue({ code: 'custom', path: [...path], message })
    }
  })

type Fault = { readonly path: readonly (string | number)[]; readonly message: string }

type AlertFields = {
  readonly watches: AlertSubject
  readonly limit?: string | undefined
  readonly planRef?: string | undefined
  readonly thresholds: readonly ThresholdInput[]
}

function faultsOfAlert({ watches, limit, planRef, ...fields }: AlertFields): Fault[] {
  const faults = faultsOfThresholds(watches, fields.thresholds)
  if (limit !== undefined && watches !== 'limit') {
    faults.push({ path: ['limit'], message: 'Only an alert that watches limits names one' })
  }
  if (planRef !== undefined && watches === 'wallet') {
    faults.push({ path: ['planRef'], message: 'A wallet pays for all plans of a customer' })
  }
  return faults
}

const fieldsBySubject: Readonly<Record<AlertSubject, readonly (keyof ThresholdInput)[]>> = {
  limit: ['percent', 'units'],
  wallet: ['credits'],
  spend: ['percent', 'amountMinor'],
}

/** Returns which thresholds an alert of this kind cannot have. */
export function faultsOfThresholds(
  watches: AlertSubject,
  given: readonly ThresholdInput[],
): Fault[] {
  const known = new Set<string>()
  return given.flatMap((threshold, at) => {
    const path = ['thresholds', at]
    const allowed = fieldsBySubject[watches]
    if (!allowed.some((field) => threshold[field] !== undefined)) {
      const names = allowed.map((field) => `\`${field}\``).join(' or ')
      return [{ path, message: `An alert that watches ${watches} has thresholds in ${names}` }]
    }
    const { percent, units, credits, amountMinor, currency } = threshold
    const text = JSON.stringify([percent, units, credits, amountMinor, currency?.toUpperCase()])
    const isRepeated = known.has(text)
    known.add(text)
    return isRepeated ? [{ path, message: 'Each threshold may occur only once' }] : []
  })
}

/** Returns the fields of a threshold in one order, with the currency in upper case. */
export function thresholdFields({ percent, units, credits, ...money }: ThresholdInput) {
  if (percent !== undefined) return { percent }
  if (units !== undefined) return { units }
  if (credits !== undefined) return { credits }
  return { amountMinor: money.amountMinor!, currency: money.currency!.toUpperCase() }
}

export type AlertCreateInput = z.infer<typeof alertCreateSchema>

export const alertUpdateSchema = z.object({ thresholds })

export const alertsQuerySchema = z.object({
  customerRef: requiredReference.optional(),
  planRef: requiredReference.optional(),
  ...pageQuery,
})

export const alertSchema = z.object({
  reference: z.string(),
  watches: z.enum(alertSubjects),
  limit: z.string().optional(),
  planRef: z.string().optional(),
  customerRef: z.string().optional(),
  thresholds: z.array(thresholdSchema),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type AlertBody = z.infer<typeof alertSchema>

export const alertsResponseSchema = z.object({ alerts: z.array(alertSchema) })

export const alertDeletedSchema = z.object({ success: z.literal(true) })

/** What a customer wants to spend on the usage of a product in one billing period. */
export const budgetSchema = z.object({
  productRef: z.string(),
  amountMinor: z.int(),
  currency: z.string(),
  /** `stop`: limit checks refuse once the usage of the period has cost the amount. */
  action: z.enum(['warn', 'stop']),
  /** What the usage of the running period has cost when it was measured last. Absent before the first measurement. */
  spentMinor: z.int().optional(),
  measuredAt: z.string().optional(),
  /** End of that period. */
  periodEnd: z.string().optional(),
  /** Limit checks refuse until the end of the period, or until the budget is raised or removed. */
  isStopped: z.boolean(),
  updatedAt: z.string(),
})

export type BudgetBody = z.infer<typeof budgetSchema>

export const budgetsResponseSchema = z.object({ budgets: z.array(budgetSchema) })

/** A threshold that was reached in the running period, as part of user info. */
export const reachedThresholdSchema = z.object({
  watches: z.enum(['limit', 'spend', 'budget']),
  limit: z.string().optional(),
  meterName: z.string().optional(),
  /** Absent if the threshold is an amount. */
  percent: z.number().optional(),
  threshold: z.number(),
  unit: z.enum(['units', 'minor']),
  currency: z.string().optional(),
  reachedAt: z.string(),
  periodEnd: z.string().optional(),
})

export type ReachedThresholdBody = z.infer<typeof reachedThresholdSchema>
