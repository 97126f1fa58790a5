import { openCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { openCustomerSession } from '@tollgate/domain/sessions/customer-sessions'
import { checkoutPageUrl, customerPageUrl } from '@tollgate/domain/sessions/hosted-pages'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { LimitsRequest, LimitsResponse } from '@tollgate/schemas/http/limits'
import type { AppParts } from '../http/app-parts.ts'
import { commit } from '../http/commit.ts'
import { requireCustomer } from '../http/require.ts'

/**
 * Adds to a refusal where the customer can do something about it: the portal, where a plan waits for consent, else a
 * checkout. Only for callers who ask, since those who poll would leave a session behind each time.
 */
export async function withHostedPage(
  parts: AppParts,
  operation: Operation,
  request: LimitsRequest,
  refusal: LimitsResponse,
): Promise<LimitsResponse> {
  const { hostedUrl } = parts
  const { customerRef, productRef } = request
  const customer = await requireCustomer(parts, operation, customerRef)
  if (refusal.activationRequired === true) {
    const opened = { customerRef: customer.reference, productRef }
    const { sessionId } = await commit(parts, operation, ({ sql, providerId, now }) =>
      openCustomerSession(sql, providerId, opened, now),
    )
    return { ...refusal, confirmationUrl: customerPageUrl(hostedUrl, sessionId) }
  }
  const { sessionId } = await commit(parts, operation, (work) =>
    openCheckoutSession(work, hostedUrl, {
      customerRef: customer.reference,
      // Whoever pays by use has run out of credits.
      purpose: refusal.balance === undefined ? 'product' : 'credit_topup',
      productRef,
      plan: undefined,
      returnUrl: null,
    }),
  )
  return {
    ...refusal,
    checkoutUrl: checkoutPageUrl(hostedUrl, sessionId),
    checkoutSessionId: sessionId,
  }
}
