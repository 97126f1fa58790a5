import type { AddOnRaise } from '@tollgate/schemas/http/add-on-terms'
import type { BillingCycle } from '@tollgate/schemas/http/plan-terms'

/** The fields of an add-on that requests give. */
export type AddOnTerms = {
  readonly name: string
  readonly description: string | null
  /** Price of one for a period, in minor units of `currency`. */
  readonly priceMinor: number
  /** Charged once when it is attached, in minor units. */
  readonly setupFeeMinor: number
  /** Null: any number. */
  readonly quantityMax: number | null
  readonly raises: readonly AddOnRaise[]
  /** Plans that it may be attached to, all with the currency and the billing cycle. */
  readonly planRefs: readonly string[]
}

/** An extra that a customer attaches to its plan, and pays for with each period. */
export type AddOn = AddOnTerms & {
  readonly reference: string
  readonly productRef: string
  /** Upper case. */
  readonly currency: string
  readonly billingCycle: BillingCycle
  readonly billingCycleDays: number | null
  /** When a customer first attached it. From then on it is archived and never deleted. */
  readonly firstAttachedAt: Date | null
  readonly archivedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}
