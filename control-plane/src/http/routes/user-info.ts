import { usageSummary } from '@tollgate/domain/entitlements/usage-view'
import { openCustomerSession } from '@tollgate/domain/sessions/customer-sessions'
import { customerPageUrl } from '@tollgate/domain/sessions/hosted-pages'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import { userInfoRequestSchema, userInfoResponseSchema } from '@tollgate/schemas/http/user-info'
import { heldPurchase } from '../../purchases/held-purchase.ts'
import type { ApiServer } from '../api-server.ts'
import type { AppParts } from '../app-parts.ts'
import { commit } from '../commit.ts'
import { apiKeyOf, operationOf } from '../plugins/authentication.ts'
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
      const operation = operationOf(request, parts.clock)
      const { customerRef, productRef } = request.body
      const customer = await requireCustomer(parts, operation, customerRef)
      const product = await requireProduct(parts, operation, productRef)
      const purchase = await heldPurchase(parts, operation, customer.reference, productRef)
      // The portal changes things, so a key that may only look leads to none.
      const isManaging = apiKeyOf(request).scopes.includes('manage')
      const opened = { customerRef: customer.reference, productRef }
      const verifyUrl = isManaging ? await openPortal(parts, operation, opened) : null
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
  operation: Operation,
  opened: { readonly customerRef: string; readonly productRef: string },
): Promise<string> {
  const { sessionId } = await commit(parts, operation, ({ sql, providerId, now }) =>
    openCustomerSession(sql, providerId, opened, now),
  )
  return customerPageUrl(parts.hostedUrl, sessionId)
}
