/** The response of `POST /v1/sdk/limits`, reduced to the fields that a paywall reads. */
export type LimitsAnswer = {
  readonly withinLimits: boolean
  /** Reference of the active plan, or '' if there is none. */
  readonly plan: string
  readonly reservation?: { readonly id: string }
  readonly activationRequired?: boolean
  readonly checkoutUrl?: string
  readonly confirmationUrl?: string
  readonly balance?: Balance
  readonly product?: ProductDetails
  readonly plans?: readonly PlanOffer[]
}

export type Balance = {
  readonly creditBalance: number
  readonly creditsPerUnit: number
  readonly currency: string
  readonly remainingUnits?: number
}

export type ProductDetails = { readonly reference: string; readonly name?: string }

/** A plan that the customer may buy. `price` is in the smallest unit of `currency`. */
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
}
