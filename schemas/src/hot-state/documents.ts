import type { KeyScope } from '../key-scopes.ts'
import type { Environment } from '../environment.ts'

/*
 * What the control plane publishes for the data plane. The control plane is the only writer; the data plane treats a
 * missing document as "ask the control plane" or, for keys, as "no such key".
 */

/** Under `apiKeyDocumentKey`. A revoked key is a deleted document. */
export type PublishedApiKey = {
  readonly keyId: string
  readonly providerId: string
  readonly environment: Environment
  readonly expiresAtMs: number | null
  /** Absent: all. */
  readonly scopes?: readonly KeyScope[] | undefined
  /** The key is a live one, and its provider is not live yet. */
  readonly isMisplaced?: boolean | undefined
  /** Requests with a name that the operation does not know are refused. */
  readonly isStrict?: boolean | undefined
}

export function apiKeyDocumentKey(sha256Hex: string): string {
  return `api-key/${sha256Hex}`
}

/** Under `metersDocumentKey`: every meter of the provider by its name. */
export type PublishedMeters = {
  readonly meters: Readonly<
    Record<string, { readonly reference: string; readonly status: 'active' | 'archived' }>
  >
}

export function metersDocumentKey(environment: Environment, providerId: string): string {
  return `meters/${environment}/${providerId}`
}

/** Under `offerDocumentKey`: what a denied limit check shows. Plans are the active ones that are not hidden. */
export type PublishedOffer = {
  readonly product: { readonly reference: string; readonly name: string }
  readonly plans: readonly PlanOffer[]
}

export type PlanOffer = {
  readonly reference: string
  readonly name?: string
  readonly type: string
  readonly price: number
  readonly currency: string
  readonly requiresPayment: boolean
  readonly freeUnits?: number
  readonly creditsPerUnit?: number
  readonly billingModel?: string
  readonly billingCycle?: string
  readonly pricingOptions?: readonly {
    readonly currency: string
    readonly price: number
    readonly basePrice?: number
    readonly setupFee?: number
    readonly default?: boolean
  }[]
}

export function offerDocumentKey(
  environment: Environment,
  providerId: string,
  productRef: string,
): string {
  return `offer/${environment}/${providerId}/${productRef}`
}

/** The entry of (subject, scope ''): this reference belongs to a customer. */
export type KnownCustomer = {
  readonly customerRef: string
}

/** The entry of (subject, scope = product reference): what the customer's purchase of that product allows. */
export type Entitlement = {
  readonly customerRef: string
  readonly purchaseRef: string
  readonly planRef: string
  readonly planType: string
  /** Access ends here, Unix milliseconds; null: it renews until something changes it. */
  readonly endsAtMs: number | null
  /** The hard cap of one period in 10^-6 units, as decimal text; null: none. */
  readonly cap: string | null
  /** Absent: usage that is not billed yet has no limit of its own. */
  readonly unbilled?: UnbilledLimit
  /** Absent: no period leaves anything to the next one. */
  readonly rollOver?: RollOver
  /** Usage of this plan is paid from the wallet as it happens; null: it is not. */
  readonly credit: { readonly creditsPerUnit: number; readonly currency: string } | null
  /** Where the purchase's first period begins, Unix seconds; its counter window begins earlier by the tolerance. */
  readonly firstPeriodStartSecond: number
  /** The first period counts in a window that an earlier purchase started. Absent: it has a window of its own. */
  readonly sharedWindow?: { readonly id: string; readonly fromSecond: number }
  /** What the first period allows after a change of plan within a period. Absent: as much as every other period. */
  readonly firstPeriod?: PeriodLimits
  /**
   * What all other periods allow where `firstPeriod` is there. `cap`, `unbilled` and `rollOver` then have the smaller limits of
   * both, so that a reader of an earlier release never allows too much. Absent: other periods go by those.
   */
  readonly laterPeriods?: PeriodLimits
  /** The purchase's periods that limit checks may need: half-open, Unix seconds, in order, without gaps. */
  readonly periods: readonly { readonly startSecond: number; readonly endSecond: number }[]
  /** Every reference this customer's usage may come in under; the counters of all are added up. */
  readonly customerRefs: readonly string[]
}

/** Limits beside a change of plan that has shared out the units of the first period, as decimal text of 10^-6 units. */
export type PeriodLimits = {
  readonly cap: string | null
  readonly rollOverLimit?: string
  readonly unbilledUnits?: string
}

/** How much usage of a period there may be before it is billed. */
export type UnbilledLimit = {
  /** Units of one period, 10^-6, as decimal text. */
  readonly units: string
  /** Units that were left by the period before come on top: they are included in the plan's price. */
  readonly isWidened: boolean
  /** Periods that begin before are never billed: the trial. Unix seconds. */
  readonly fromSecond: number
}

/** What a period did not use of its units widens the cap of the next one. */
export type RollOver = Leaving & {
  /** Units of one period, 10^-6, as decimal text. */
  readonly limit: string
  /**
   * What the period that begins at that second was left, in 10^-6 units, as decimal text: nothing can come any more of the
   * one before, whose counters are not kept for ever. Absent: the counters of the period before say it.
   */
  readonly settled?: { readonly startSecond: number; readonly units: string }
}

/** Which periods leave something to the next one. Unix seconds. */
export type Leaving = {
  /** Periods that ended by then leave nothing: the trial. */
  readonly fromSecond: number
  /** Nor do periods that ended later than `fromSecond` and not later than `untilSecond`; null: access is not back yet. */
  readonly withoutAccess?: { readonly fromSecond: number; readonly untilSecond: number | null }
}

/** A counter window is one period of one purchase. */
export function windowId(purchaseRef: string, periodStartSecond: number): string {
  return `${purchaseRef}@${periodStartSecond}`
}

/** Client clocks drift: the first period also counts records stamped up to this long before its start. */
export const firstPeriodToleranceSeconds = 300
