import type { Balance, LimitsAnswer, PlanOffer, ProductDetails } from './limits-answer.ts'

/** Why a call was refused, and how the customer can continue. */
export type Gate = {
  readonly kind: 'payment_required' | 'activation_required'
  /** Reference of the product. */
  readonly product: string
  /** Page on which the customer can pay, or '' if there is none. */
  readonly checkoutUrl: string
  /** Text for people and models: what is missing, and where to get it. */
  readonly message: string
  readonly confirmationUrl?: string
  readonly plans?: readonly PlanOffer[]
  readonly balance?: Balance
  readonly productDetails?: ProductDetails
}

/** What the customer has to do. */
export type Recovery = 'activate_plan' | 'topup' | 'upgrade'

export function recoveryOf(answer: LimitsAnswer): Recovery {
  if (answer.activationRequired) return 'activate_plan'
  if (answer.balance?.creditBalance === 0) return 'topup'
  return 'upgrade'
}

/** Builds the refusal. `ownUrl` is the provider's own page, which replaces the pages that Tollgate offers. */
export function gateOf(productRef: string, answer: LimitsAnswer, ownUrl?: string): Gate {
  const { balance, plans, product } = answer
  const confirmationUrl = ownUrl === undefined ? answer.confirmationUrl : undefined
  const checkoutUrl = ownUrl ?? confirmationUrl ?? answer.checkoutUrl ?? ''
  return {
    kind: isActivation(answer) ? 'activation_required' : 'payment_required',
    product: productRef,
    checkoutUrl,
    message: `${sentences[recoveryOf(answer)](answer)}${checkoutUrl && `: ${checkoutUrl}`}`,
    ...(confirmationUrl !== undefined && { confirmationUrl }),
    ...(plans !== undefined && { plans }),
    ...(balance !== undefined && { balance }),
    ...(product !== undefined && { productDetails: product }),
  }
}

/** With `activation_required`, clients offer credits instead of plans. That fits if all paid plans on sale are billed by usage. */
function isActivation({ activationRequired, balance, plans = [] }: LimitsAnswer): boolean {
  if (activationRequired) return true
  const paid = plans.filter((plan) => plan.requiresPayment)
  const areByUse = paid.every(({ type }) => type === 'usage-based' || type === 'hybrid')
  return balance?.creditBalance === 0 && paid.length > 0 && areByUse
}

const sentences: Readonly<Record<Recovery, (answer: LimitsAnswer) => string>> = {
  activate_plan: () => 'A plan is required. Activate a plan to continue',
  topup: () => 'Your credits are used up. Top up to continue',
  upgrade: ({ plan }) =>
    plan === ''
      ? 'A plan is required. Choose a plan to continue'
      : 'You have reached the limit of your plan. Upgrade to continue',
}
