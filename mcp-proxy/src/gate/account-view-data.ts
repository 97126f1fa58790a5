import type { UserInfoResponse } from '@tollgate/schemas/http/user-info'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { ServedPlan, ServedServer } from '../servers/served-server.ts'

export type AccountView = {
  readonly kind: 'upgrade' | 'account'
  /** Link to a hosted page. The customer must sign in there first. */
  readonly url: string
  readonly server: ServedServer
  /** Reference of the only plan to show. If undefined, the view shows all plans on offer. */
  readonly planRef: string | undefined
  /** Plan and usage of the customer, or undefined if the control plane could not be read. */
  readonly info: UserInfoResponse | undefined
}

/** Returns the structured content from which the view of the proxy's own tools is drawn. */
export function accountViewData({ kind, url, server, planRef, info }: AccountView): JsonObject {
  const { productName, plans } = server
  const offered = plans.filter(({ isOffered }) => isOffered)
  const named = offered.filter(({ reference }) => reference === planRef)
  const shown = named.length > 0 ? named : offered
  return {
    kind,
    url,
    product: productName,
    current: currentOf(plans, info),
    plans: kind === 'account' ? [] : shown.map(planToView),
  }
}

function planToView({ reference, name, type, price, currency, billingCycle, units }: ServedPlan) {
  return {
    ...{ reference, name, type, price, currency },
    ...(billingCycle === undefined ? {} : { billingCycle }),
    ...(units === undefined ? {} : { units }),
  }
}

function currentOf(plans: readonly ServedPlan[], info: UserInfoResponse | undefined) {
  const purchase = info?.purchase
  const plan = plans.find(({ reference }) => reference === purchase?.plan.reference)
  if (purchase === undefined || plan === undefined) return null
  const { used, remaining, total } = purchase.usage
  return { plan: plan.name, ...(total > 0 ? { usage: { used, remaining, total } } : {}) }
}
