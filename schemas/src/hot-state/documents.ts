import type { KeyScope } from '../key-scopes.ts'
import type { Environment } from '../environment.ts'
import type { MeterReading } from '../meter-reading.ts'

/*
 * Documents that the control plane publishes for the data plane. The control plane is the only writer. If a document is missing,
 * the data plane queries the control plane or, for keys, reports that the key does not exist.
 */

/** The document under `apiKeyDocumentKey`. A revoked key has no document. */
export type PublishedApiKey = {
  readonly keyId: string
  readonly providerId: string
  readonly environment: Environment
  readonly expiresAtMs: number | null
  /** Absent means all scopes. */
  readonly scopes?: readonly KeyScope[] | undefined
  /** The key is a live key, and its provider is not live yet. */
  readonly isMisplaced?: boolean | undefined
  /** Requests with a field or parameter that the operation does not know are refused. */
  readonly isStrict?: boolean | undefined
}

export function apiKeyDocumentKey(sha256Hex: string): string {
  return `api-key/${sha256Hex}`
}

/** The document under `metersDocumentKey`: all meters of the provider by name. */
export type PublishedMeters = { readonly meters: Readonly<Record<string, PublishedMeter>> }

export type PublishedMeter = {
  readonly reference: string
  readonly status: 'active' | 'archived'
  /** Absent for a meter that counts the calls that name it. */
  readonly reads?: MeterReading | undefined
}

export function metersDocumentKey(environment: Environment, providerId: string): string {
  return `meters/${environment}/${providerId}`
}

/** The document under `offerDocumentKey`: what a denied limit check offers. It contains the active plans that are not hidden. */
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
  /** Set for packs, which are bought beside a running plan. */
  readonly pack?: { readonly meter?: string | undefined; readonly units: number }
  readonly pricingOptions?: readonly {
    readonly currency: string
    readonly price: number
    readonly basePrice?: number
    readonly setupFee?: number
    readonly default?: boolean
  }[]
  /** Absent for plans without charges. */
  readonly charges?: readonly OfferedCharge[]
}

/** A charge of an offered plan. Prices of tiers and of rows of a matrix are left out. */
export type OfferedCharge = {
  readonly charge: string
  readonly meterName: string
  readonly model: 'per_unit' | 'graduated' | 'volume' | 'package' | 'matrix'
  readonly displayName?: string
  readonly price?: string
  readonly creditsPerUnit?: string
  readonly unitsPerPackage?: number
  readonly included?: number
  readonly cap?: number
}

export function offerDocumentKey(
  environment: Environment,
  providerId: string,
  productRef: string,
): string {
  return `offer/${environment}/${providerId}/${productRef}`
}

/** The entry of (subject, scope ''): the reference belongs to this customer. */
export type KnownCustomer = {
  readonly customerRef: string
  /** The time of the customer's test clock in Unix milliseconds. Absent for a customer of real time. */
  readonly clockMs?: number
}

/** The entry of (subject, scope = product reference): the limits of the customer's purchase of that product. */
export type Entitlement = {
  readonly customerRef: string
  readonly purchaseRef: string
  readonly planRef: string
  readonly planType: string
  /** End of access in Unix milliseconds, or null if the purchase renews until it is changed. */
  readonly endsAtMs: number | null
  /** Hard cap of one period in 10^-6 units as decimal text, or null for no cap. */
  readonly cap: string | null
  /** Absent if unbilled usage has no separate limit. */
  readonly unbilled?: UnbilledLimit
  /** Absent if unused units do not roll over. */
  readonly rollOver?: RollOver
  /**
   * Limits and debits by meter, if the plan has charges. `cap` is then null, and `credit` says whether a wallet pays. Absent for
   * plans that count only the meter `requests`, to which all other fields apply.
   */
  readonly charges?: readonly EntitledCharge[]
  /**
   * The charges of all periods that begin at this Unix second or later, if new prices wait for the next period. Absent if `charges`
   * apply to every period.
   */
  readonly laterCharges?: {
    readonly fromSecond: number
    readonly charges: readonly EntitledCharge[]
  }
  /** Limits in addition to the caps of `charges`. Absent if there are none. */
  readonly limits?: readonly EntitledLimit[]
  /** Packs beside the plan. Absent if there are none. */
  readonly packs?: EntitledPacks
  /** Price if a wallet pays for usage immediately, or null if no wallet pays. */
  readonly credit: { readonly creditsPerUnit: number; readonly currency: string } | null
  /** Start of the first period in Unix seconds. Its counter window starts earlier by the tolerance. */
  readonly firstPeriodStartSecond: number
  /** Set if the first period counts in the window of an earlier purchase. Absent if it has its own window. */
  readonly sharedWindow?: { readonly id: string; readonly fromSecond: number }
  /** Limits of the first period after a change of plan within a period. Absent if it has the same limits as every other period. */
  readonly firstPeriod?: PeriodLimits
  /**
   * Limits of all other periods if `firstPeriod` is set. `cap`, `unbilled` and `rollOver` then have the smaller limits of both, so
   * that a reader of an earlier release never allows too much. Absent if those limits apply.
   */
  readonly laterPeriods?: PeriodLimits
  /** The periods that limit checks may need: half-open, in Unix seconds, in order, without gaps. */
  readonly periods: readonly { readonly startSecond: number; readonly endSecond: number }[]
  /** Every reference that usage of this customer may name. The counters of all are summed. */
  readonly customerRefs: readonly string[]
  /**
   * Half-open time in Unix seconds in which the customer's budget refuses further usage. Absent if no budget stops. Readers of
   * earlier releases ignore it.
   */
  readonly budgetStop?: { readonly startSecond: number; readonly endSecond: number }
  /** The time of the customer's test clock in Unix milliseconds. Absent for a customer of real time. */
  readonly clockMs?: number
}

/** One charge of a plan: a limit of a meter, a debit for its units, or both. */
export type EntitledCharge = {
  /** Name of the charge, unique in its plan. */
  readonly key: string
  readonly meterName: string
  /** Hard cap of one period in 10^-6 units as decimal text, or null for no cap. */
  readonly cap: string | null
  /** Absent if no wallet pays for these units. */
  readonly debit?: DebitTerms
}

/** Units of packs, which are used after those of the plan. */
export type EntitledPacks = {
  /** Usage of periods that ended up to this Unix second has its units already. */
  readonly settledSecond: number
  /** Periods that start before this Unix second use no packs, because they belong to the trial. */
  readonly fromSecond: number
  readonly meters: readonly PackedMeter[]
}

/** Packs of one meter. Units are 10^-6 units as decimal text. */
export type PackedMeter = {
  readonly meterName: string
  /** Units of a period that are used before packs, without those carried over. Null if the plan provides any number. */
  readonly own: string | null
  /** The same for the first period, if it differs. */
  readonly ownOfFirst?: string | null
  /** Units that packs have paid for, by the start of the period. They no longer count as left. */
  readonly paid: readonly { readonly startSecond: number; readonly units: string }[]
  /** In the order in which they are used. */
  readonly packs: readonly EntitledPack[]
}

/** One pack with the units that are left. */
export type EntitledPack = {
  readonly units: string
  readonly startSecond: number
  /** Unix second from which the units are no longer used, or null if they do not expire. */
  readonly endSecond: number | null
}

/** A limit of a meter in a window of time. */
export type EntitledLimit = {
  /** Name of the limit, unique in its plan. */
  readonly key: string
  readonly meterName: string
  /** 10^-6 units as decimal text. */
  readonly cap: string
  readonly window: LimitWindow
}

/** The billing period, a rolling window of some seconds, or a calendar window in UTC (weeks begin on Monday). */
export type LimitWindow =
  | { readonly kind: 'period' | 'hour' | 'day' | 'week' | 'month' }
  | { readonly kind: 'rolling'; readonly seconds: number }

/** How many credits the units of a charge cost. Rates are decimal text of credits with at most 12 decimals. */
export type DebitTerms = {
  /** Only events whose dimensions have one of these values are charged. Absent for all events. */
  readonly where?: Readonly<Record<string, readonly string[]>>
  /** The first row whose dimensions all match determines the rate. */
  readonly rows?: readonly {
    readonly when: Readonly<Record<string, string>>
    readonly creditsPerUnit: string
  }[]
  /** The rate of all other events. */
  readonly creditsPerUnit: string
}

/** Limits of one period after a change of plan that split the units of the first period, as decimal text of 10^-6 units. */
export type PeriodLimits = {
  readonly cap: string | null
  readonly rollOverLimit?: string
  readonly unbilledUnits?: string
}

/** The limit of usage in a period that is not billed yet. */
export type UnbilledLimit = {
  /** Units of one period in 10^-6 units, as decimal text. */
  readonly units: string
  /** Units that rolled over from the previous period are added to the limit, because the plan's price includes them. */
  readonly isWidened: boolean
  /** Periods that start before this Unix second are never billed, because they belong to the trial. */
  readonly fromSecond: number
  /**
   * The limit in the period that starts at that Unix second, in place of `units`: a part of the period is billed. Absent if no
   * period is billed in part. Readers of earlier releases ignore it and allow less.
   */
  readonly raised?: { readonly startSecond: number; readonly units: string }
}

/** Unused units of a period are added to the cap of the next one. */
export type RollOver = Leaving & {
  /** Units of one period in 10^-6 units, as decimal text. */
  readonly limit: string
  /**
   * Units that rolled over into the period that starts at `startSecond`, in 10^-6 units as decimal text. It is set once the
   * previous period is final, since the counters of that period are not kept permanently. Absent while the counters of the previous
   * period determine the amount.
   */
  readonly settled?: { readonly startSecond: number; readonly units: string }
}

/** Periods whose unused units roll over. All times are Unix seconds. */
export type Leaving = {
  /** Periods that ended at or before this second have no roll-over, because they belong to the trial. */
  readonly fromSecond: number
  /**
   * Periods that ended after `fromSecond` and not after `untilSecond` have no roll-over either. `untilSecond` is null while access
   * is suspended.
   */
  readonly withoutAccess?: { readonly fromSecond: number; readonly untilSecond: number | null }
}

/** Returns the id of the counter window of one period of a purchase. */
export function windowId(purchaseRef: string, periodStartSecond: number): string {
  return `${purchaseRef}@${periodStartSecond}`
}

/** Client clocks drift, so the first period also counts records with timestamps up to 300 s before its start. */
export const firstPeriodToleranceSeconds = 300
