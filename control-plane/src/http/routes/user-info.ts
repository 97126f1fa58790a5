import { usageSummary } from '@tollgate/domain/entitlements/usage-view'
import { openCustomerSession } from '@tollgate/domain/sessions/customer-sessions'
import { customerPageUrl } from '@tollgate/domain/sessions/hosted-pages'
import { userInfoRequestSchema, userInfoResponseSchema } from '@tollgate/schemas/http/user-info'
import { heldPurchase } from '../../purchases/held-purchase.ts'
import type { ApiServer } from '../api-server.ts'
import type { AppParts } from '../app-parts.ts'
import { apiKeyOf, callerOf, type Caller } from '../plugins/authentication.ts'
import { requireCustomer, requireProduct } from '../require.ts'

export function registerUserInfoRoutes(app: ApiServer, parts: AppParts): void {
  app.post(
    '/v1/sdk/user-info',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['Customers'],
        body: userInfoRequestSchema,
        response: { 200: userInfoResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { customerRef, productRef } = request.body
      const customer = await requireCustomer(parts, caller, customerRef)
      const product = await requireProduct(parts, caller, productRef)
      const purchase = await heldPurchase(parts, caller, customer.reference, productRef)
      // The portal changes things, so a key that may only look leads to none.
      const isManaging = apiKeyOf(request).scopes.includes('manage')
      const opened = { customerRef: customer.reference, productRef }
      const verifyUrl = isManaging ? await openPortal(parts, caller, opened) : null
      return {
        status: usageSummary(product.name, purchase?.usage),
        verifyUrl,
        user: {
          reference: customer.reference,
          email: customer.email,
          name: customer.name,
          externalRef: customer.externalRef,
        },
        ...(purchase === undefined ? {} : { purchase }),
      }
    },
  )
}

async function openPortal(
  parts: AppParts,
  { environment, providerId }: Caller,
  opened: { readonly customerRef: string; readonly productRef: string },
): Promise<string> {
  const pool = parts.database.in(environment)
  const now = new Date(parts.clock.now())
  const { sessionId } = await openCustomerSession(pool, providerId, opened, now)
  return customerPageUrl(parts.hostedUrl, sessionId)
}
