import type { ProrationPolicy } from '@tollgate/schemas/http/plan-terms'
import type { TaxTreatment } from '../tax/tax-rule.ts'
import type { UsageTerms } from './usage-terms.ts'

/*
 * What each kind of invoice line is priced from, and nothing beside it: kept with the line, and priced again by `priceLine`
 * to the same cent. Plain JSON: amounts are whole minor units of the invoice's currency as text, units decimal text.
 */

export type LineInputs =
  | FixedCharge
  | CreditsCharge
  | UsageCharge
  | LateUsageCharge
  | ProratedCharge
  | TaxCharge
  | CarriedIn

export type LineKind = LineInputs['kind']

/** A price as the plan names it. */
export type FixedCharge = {
  readonly kind: 'recurring' | 'setup_fee' | 'one_time'
  readonly amountMinor: string
}

/** Credits for the wallet, at what the customer wanted to pay for them. */
export type CreditsCharge = {
  readonly kind: 'credits'
  readonly amountMinor: string
  /** Whole ones. */
  readonly credits: string
}

/** Usage of the line's period. */
export type UsageCharge = {
  readonly kind: 'usage'
  readonly terms: UsageTerms
  readonly usedUnits: string
  /** Left over from the period before. */
  readonly carriedOverUnits: string
  /** Units that the purchases before this one used of the allowance that it shares. Absent: none. */
  readonly usedBeforeUnits?: string
  readonly conversion: CreditConversion
  readonly reading: UsageReading
}

/**
 * Usage of an earlier period that was not stored yet when that was billed. It costs what the period would have cost more
 * with it, by that period's own plan. `usedUnits` is all that was billed of it before, late usage included.
 */
export type LateUsageCharge = Omit<UsageCharge, 'kind'> & {
  readonly kind: 'late_usage'
  readonly lateUnits: string
  /** Units of `usedBeforeUnits` that were not stored yet when the period was billed. Absent: none. */
  readonly lateBeforeUnits?: string
}

/** A change of plan within a period: the difference for what is left of it. Less than nothing is a credit. */
export type ProratedCharge = {
  readonly kind: 'proration'
  readonly policy: ProrationPolicy
  readonly oldMinor: string
  readonly newMinor: string
  readonly secondsLeft: number
  readonly secondsInPeriod: number
}

/** Of all that the invoice charges beside it and beside what earlier invoices left. */
export type TaxCharge = {
  readonly kind: 'tax'
  /** A provider that collects none has no line of it. */
  readonly treatment: Exclude<TaxTreatment, 'not_collecting'>
  /** ISO 3166-1 alpha-2: where the customer is. */
  readonly country: string | null
  /** Tenths of a percent. */
  readonly ratePerMille: string
  readonly baseMinor: string
  /** Whether the base contains the tax, which then is told and not added again. */
  readonly isInclusive: boolean
}

/** Of the customer's earlier invoices: too little to be charged, or a credit where negative. */
export type CarriedIn = { readonly kind: 'carried_in'; readonly amountMinor: string }

/** How credits became money of the invoice's currency. */
export type CreditConversion = {
  readonly currency: string
  /** What one US dollar buys, written out: 1 for the dollar. */
  readonly unitsPerDollar: string
}

/** Where a sum of usage comes from: with these it can be summed up again. */
export type UsageReading = {
  readonly meterName: string
  /** ISO 8601. All usage that was acknowledged before is in the sum. */
  readonly watermark: string
  /** Of the log, by partition: the first offset that is not in the sum. */
  readonly nextOffsets: Readonly<Record<string, string>>
}
