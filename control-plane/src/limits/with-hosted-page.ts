import { reuseOrOpenCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { reuseOrOpenCustomerSession } from '@tollgate/domain/sessions/customer-sessions'
import { checkoutPageUrl, customerPageUrl } from '@tollgate/domain/sessions/hosted-pages'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { LimitsRequest, LimitsResponse } from '@tollgate/schemas/http/limits'
import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import type { HostedParts } from '@tollgate/domain/sessions/hosted-parts'
import { commit } from '../access/commit.ts'
import { requireCustomer } from '../access/require.ts'

/**
 * Adds a link to a refusal, if the caller requests it: to the portal if a plan waits for the customer's consent, otherwise to a
 * checkout. A caller that may not manage purchases gets a checkout that cannot end purchases, and never the portal, where every
 * purchase can be cancelled. A caller that polls gets the same link again while it is fresh. If the customer has the maximum number
 * of open pages, the link leads to one of them or is absent. The refusal itself is always returned.
 */
export async function withHostedPage(
  parts: CommitParts & HostedParts,
  operation: Operation,
  request: LimitsRequest,
  refusal: LimitsResponse,
  { mayManage }: { readonly mayManage: boolean },
): Promise<LimitsResponse> {
  const { hostedUrl, limits } = parts
  const { productRef } = request
  const { reference: customerRef } = await requireCustomer(parts, operation, request.customerRef)
  const awaitsConsent = refusal.activationRequired === true
  if (awaitsConsent && mayManage) {
    const portal = await commit(parts, operation, (work) =>
      reuseOrOpenCustomerSession(work, limits, { customerRef, productRef }),
    )
    if (portal === undefined) return refusal
    return { ...refusal, confirmationUrl: customerPageUrl(hostedUrl, portal.sessionId) }
  }
  // A customer who pays by use and already has the plan has no credits left.
  const needsCredits = !awaitsConsent && refusal.balance !== undefined
  const checkout = await commit(parts, operation, (work) =>
    reuseOrOpenCheckoutSession(work, parts, {
      customerRef,
      purpose: needsCredits ? 'credit_topup' : 'product',
      productRef,
      plan: undefined,
      returnUrl: null,
      mayChangePlan: mayManage,
    }),
  )
  if (checkout === undefined) return refusal
  const { sessionId } = checkout
  return {
    ...refusal,
    checkoutUrl: checkoutPageUrl(hostedUrl, sessionId),
    checkoutSessionId: sessionId,
  }
}
