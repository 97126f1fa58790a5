import type { JsonObject } from '@tollgate/schemas/json-object'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { ClientCapabilities } from './gate.ts'

/** Why a call is refused, and what the customer can do. Field names are those of the wire contract (6.5). */
export type Paywall = {
  readonly kind: 'payment_required' | 'activation_required'
  /** Name in the contract of the client tool that solves the problem. */
  readonly recovery: 'upgrade' | 'topup' | 'activate_plan'
  /** What happened, as a sentence without its full stop. */
  readonly fact: string
}

export type DeniedLimits =
  /** The customer's plan, or '' for no plan, does not include the tool. */
  { readonly reason: 'plan'; readonly toolName: string } | { readonly reason: 'limit' }

export function decidePaywall(denied: DeniedLimits, answer: LimitsResponse): Paywall {
  const product = answer.product?.name ?? 'this product'
  if (answer.activationRequired === true) {
    return {
      kind: 'activation_required',
      recovery: 'activate_plan',
      fact: `A plan of ${product} must be activated before its tools can be used`,
    }
  }
  if (denied.reason === 'plan' && answer.withinLimits) {
    const fact = `The current plan does not include the tool ${denied.toolName}`
    return { kind: 'payment_required', recovery: 'upgrade', fact }
  }
  if (answer.balance?.creditBalance === 0) {
    const isUsageOnly = hasOnlyUsagePlans(answer)
    const kind = isUsageOnly ? 'activation_required' : 'payment_required'
    return { kind, recovery: 'topup', fact: `There are no credits left for ${product}` }
  }
  const fact =
    answer.plan === ''
      ? `A plan of ${product} is needed to use this tool`
      : `The limit of the current plan of ${product} is reached`
  return { kind: 'payment_required', recovery: 'upgrade', fact }
}

/** Returns whether every paid plan on offer is billed by usage. */
function hasOnlyUsagePlans({ plans = [] }: LimitsResponse): boolean {
  const paid = plans.filter(({ requiresPayment }) => requiresPayment)
  return paid.length > 0 && paid.every(({ type }) => type === 'usage-based' || type === 'hybrid')
}

/**
 * Returns the paywall with a tool that exists in this client. A client with views lists `upgrade`, which opens the same page as
 * `activate_plan` and shows the plans.
 */
export function adviseFor(
  { showsApps }: Pick<ClientCapabilities, 'showsApps'>,
  paywall: Paywall,
): Paywall {
  return showsApps && paywall.recovery === 'activate_plan'
    ? { ...paywall, recovery: 'upgrade' }
    : paywall
}

const advice: Readonly<Record<Paywall['recovery'], string>> = {
  upgrade: 'Use the tool `upgrade` to choose a plan',
  topup: 'Use the tool `topup` to add credits',
  activate_plan: 'Use the tool `activate_plan` to activate one',
}

/** Returns the message of a paywall. `url` is '' if no link could be created. */
export function paywallMessage({ fact, recovery }: Paywall, url: string): string {
  return url === ''
    ? `${fact}. ${advice[recovery]}.`
    : `${fact}. ${advice[recovery]}, or open ${url}`
}

/** Returns the structured content of a paywall result. The wire contract defines its members. */
export function gateOf(
  paywall: Paywall,
  url: string,
  productRef: string,
  answer: LimitsResponse,
): JsonObject {
  const { kind } = paywall
  const isActivation = kind === 'activation_required'
  return {
    kind,
    product: productRef,
    checkoutUrl: url,
    message: paywallMessage(paywall, url),
    ...(isActivation && url !== '' ? { confirmationUrl: url } : {}),
    ...(isActivation && answer.plans !== undefined ? { plans: answer.plans } : {}),
    ...(answer.balance === undefined ? {} : { balance: answer.balance }),
    ...(answer.product === undefined ? {} : { productDetails: answer.product }),
  }
}

const text = { type: 'string' }

/** JSON schema of the paywall's structured content, added to the output schemas of gated tools. */
export const gateSchema: JsonObject = {
  type: 'object',
  description: 'Instead of the result: what must be paid or activated first.',
  properties: {
    kind: { type: 'string', enum: ['payment_required', 'activation_required'] },
    product: text,
    checkoutUrl: text,
    message: text,
    confirmationUrl: text,
    plans: { type: 'array', items: { type: 'object' } },
    balance: { type: 'object' },
    productDetails: { type: 'object' },
  },
  required: ['kind', 'product', 'checkoutUrl', 'message'],
}
