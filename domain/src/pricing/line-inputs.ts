import type { ProrationPolicy } from '@tollgate/schemas/http/plan-terms'
import type { TaxPart, TaxTreatment } from '../tax/tax-rule.ts'
import type { ChargeTerms } from './charge-terms.ts'
import type { UsageTerms } from './usage-terms.ts'

/*
 * Inputs of each kind of invoice line. They are stored with the line and contain everything that `priceLine` needs to calculate the
 * same amount again. Plain JSON: amounts are whole minor units of the invoice's currency as text, and units are decimal text.
 */

export type LineInputs =
  | FixedCharge
  | AddOnCharge
  | CreditsCharge
  | UsageCharge
  | LateUsageCharge
  | MinimumCharge
  | ProratedCharge
  | DiscountCharge
  | ItemCharge
  | TaxCharge
  | CarriedIn

export type LineKind = LineInputs['kind']

/** A price of the plan. */
export type FixedCharge = {
  readonly kind: 'recurring' | 'setup_fee' | 'one_time'
  readonly amountMinor: string
}

/** An add-on for the line's period. */
export type AddOnCharge = {
  readonly kind: 'add_on'
  /** Reference of the add-on. */
  readonly addOn: string
  /** Price of one for a period. */
  readonly unitMinor: string
  /** Whole number as text. */
  readonly quantity: string
}

/** Credits for the wallet, at the amount that the customer paid. */
export type CreditsCharge = {
  readonly kind: 'credits'
  readonly amountMinor: string
  /** Number of whole credits. */
  readonly credits: string
}

/** Usage of the line's period. */
export type UsageCharge = {
  readonly kind: 'usage'
  /** Key of the charge; absent for plans without charges. */
  readonly charge?: string
  readonly terms: UsageTerms | ChargeTerms
  readonly usedUnits: string
  /** `usedUnits` by row of a matrix: one number for each row, and the last one for all other records. Absent without a matrix. */
  readonly rowUnits?: readonly string[]
  /** Units carried over from the period before. */
  readonly carriedOverUnits: string
  /** Units of the shared allowance that earlier purchases used; absent if there are none. */
  readonly usedBeforeUnits?: string
  /** The part of `usedUnits` that packs paid for; absent if there is none. */
  readonly packUnits?: string
  readonly conversion: CreditConversion
  readonly reading: UsageReading
}

/**
 * Usage of an earlier period that was not stored yet when the period was billed. It costs the amount by which the period would have
 * been more expensive, by that period's own plan. `usedUnits` is all usage billed before, including late usage.
 */
export type LateUsageCharge = Omit<UsageCharge, 'kind'> & {
  readonly kind: 'late_usage'
  readonly lateUnits: string
  /** `lateUnits` by row of a matrix. Absent without a matrix. */
  readonly lateRowUnits?: readonly string[]
  /**
   * Units of earlier purchases in the shared allowance that were not stored yet when the period was billed; absent if there are
   * none.
   */
  readonly lateBeforeUnits?: string
  /** The part of `lateUnits` that packs paid for; absent if there is none. */
  readonly latePackUnits?: string
  /** Change of `carriedOverUnits` since the bill before; absent if there is none. */
  readonly lateCarriedOverUnits?: string
  /**
   * The amount of all earlier lines of the charge in the period, in plans that bill at an amount of unbilled usage. The line then
   * costs the rounded price of the whole period less this amount, so that the lines of a period add up to its price. It is less
   * by what was given up and would be returned otherwise. Absent for other plans: their late usage is rounded by itself.
   */
  readonly billedMinor?: string
}

/**
 * What the usage of a period costs less than the minimum of the plan. A negative amount takes back what an earlier line charged, because
 * usage arrived late.
 */
export type MinimumCharge = {
  readonly kind: 'minimum'
  /** For a whole period. */
  readonly minimumMinor: string
  /** The part of the period that counts, because the purchase began or ended within it. */
  readonly secondsCharged: number
  readonly secondsInPeriod: number
  /** What the other lines of the period charge that counts towards the minimum. */
  readonly countedMinor: string
  /** What earlier lines of this kind charged for the period. */
  readonly billedMinor: string
}

/** A change of plan within a period: the price difference for the rest of it. A negative amount is a credit. */
export type ProratedCharge = {
  readonly kind: 'proration'
  /** Set if only the add-ons of the plan change. */
  readonly ofAddOns?: true
  readonly policy: ProrationPolicy
  readonly oldMinor: string
  readonly newMinor: string
  readonly secondsLeft: number
  readonly secondsInPeriod: number
}

/** What a coupon takes off the other lines. The amount is negative, or positive if it takes back a part of a discount. */
export type DiscountCharge = {
  readonly kind: 'discount'
  /** Reference of the discount. Absent for the part of a credit that discounts had paid. */
  readonly discount?: string
} & (
  | {
      readonly by: 'percent'
      /** Decimal text with at most 2 decimals. */
      readonly percent: string
      /** What the discounted lines charge, less what earlier discounts take off. */
      readonly baseMinor: string
    }
  | { readonly by: 'amount'; readonly offMinor: string; readonly baseMinor: string }
  /** The difference of the discounts of two plans for the rest of a period. Both are for a whole period. */
  | ({ readonly by: 'proration'; readonly oldMinor: string; readonly newMinor: string } & Pick<
      ProratedCharge,
      'secondsLeft' | 'secondsInPeriod'
    >)
  /**
   * Usage that is credited gives back what was paid of it: of `grossMinor`, discounts had taken off `offMinor`. `creditMinor` is what is
   * credited and not charged again.
   */
  | {
      readonly by: 'credit'
      readonly creditMinor: string
      readonly offMinor: string
      readonly grossMinor: string
    }
)

/** A line that a person added. It costs the price of one unit times the quantity. */
export type ItemCharge = {
  readonly kind: 'item'
  readonly unitMinor: string
  /** Decimal text. */
  readonly quantity: string
}

/** Tax on everything that the invoice charges, without the amount carried over from earlier invoices. */
export type TaxCharge = {
  readonly kind: 'tax'
  /** A provider that collects no tax has no tax line. */
  readonly treatment: Exclude<TaxTreatment, 'not_collecting'>
  /** The customer's country, ISO 3166-1 alpha-2. */
  readonly country: string | null
  /** Region whose rate applies; absent if the rate is that of the country. */
  readonly region?: string
  /** Rate in tenths of a percent, as decimal text. */
  readonly ratePerMille: string
  /** The taxes that the provider's tax service named. Absent if the built-in rule decided. */
  readonly parts?: TaxPart[]
  readonly baseMinor: string
  /** Whether the base contains the tax. Then the tax is shown but not added. */
  readonly isInclusive: boolean
}

/** Amount carried over from the customer's earlier invoices: too small to charge, or a credit if negative. */
export type CarriedIn = { readonly kind: 'carried_in'; readonly amountMinor: string }

/** How credits are converted to the invoice's currency. */
export type CreditConversion = {
  readonly currency: string
  /** Amount that one US dollar buys, as decimal text; 1 for the dollar. */
  readonly unitsPerDollar: string
}

/** Source of a usage sum, with which it can be calculated again. */
export type UsageReading = {
  readonly meterName: string
  /** The sum includes only records whose dimensions have one of these values. Absent for all records of the meter. */
  readonly where?: Readonly<Record<string, readonly string[]>>
  /** ISO 8601. The sum includes all usage acknowledged before. */
  readonly watermark: string
  /** For each log partition, the first offset that is not in the sum. */
  readonly nextOffsets: Readonly<Record<string, string>>
}
