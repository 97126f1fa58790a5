import { z } from 'zod'
import {
  findReturnedPayment,
  type ReturnedPayment,
} from '@tollgate/domain/billing/returned-payment'
import { readOnSessionPayment } from '@tollgate/domain/charging/pay-on-session'
import { reconcileOperation } from '@tollgate/domain/settlement/reconcile-intent'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import type { ApiServer } from '../../access/api-server.ts'
import { frameOf } from '../frame.ts'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { findOpenPortal, portalPath, type PortalParts } from './portal.ts'
import { ReturnedPage } from './returned-page.tsx'
import { unpaidPath } from './unpaid-invoices.tsx'

export type ReturnPageParts = PortalParts & { readonly payments: PaymentParts }

const params = z.object({
  environment: z.enum(environments),
  intentRef: z.string().max(100),
  secret: z.string().max(100),
})

/**
 * Returns the address to which the bank redirects the customer. It is sent to the processor and stored with its payment attempt.
 */
export function returnUrlOf(
  { hostedUrl }: { readonly hostedUrl: string },
  environment: Environment,
  intentRef: string,
  secret: string,
): string {
  return `${hostedUrl}${portalPath}/returned/${environment}/${intentRef}/${secret}`
}

/**
 * Registers the page to which a bank redirects. The customer may have signed out meanwhile, signed in again, or paid in another
 * browser. A browser with the open portal continues there. Other browsers see only the outcome of the payment.
 */
export function registerReturn(app: ApiServer, pages: ReturnPageParts): void {
  const path = `${portalPath}/returned/:environment/:intentRef/:secret`
  app.get(path, { schema: { hide: true, params } }, async (request, reply) => {
    const { environment } = request.params
    const returned = await requireReturnedPayment(pages, request.params)
    const { providerId, customerRef, invoiceRef } = returned
    const caller = { providerId, environment }
    const portal = await findOpenPortal(pages, request, caller, customerRef)
    if (portal !== undefined)
      return reply.redirect(`${unpaidPath(portal, invoiceRef)}?tried=yes`, 303)
    const operation = reconcileOperation(providerId, environment, new Date(pages.clock.now()))
    const payment = await readOnSessionPayment(pages.payments, operation, invoiceRef)
    const frame = await frameOf(pages, request, caller)
    return sendPage(reply, 200, <ReturnedPage frame={frame} payment={payment} />)
  })
}

async function requireReturnedPayment(
  pages: { readonly publisher: PublisherParts; readonly hostedUrl: string },
  { environment, intentRef, secret }: z.infer<typeof params>,
): Promise<ReturnedPayment> {
  const returnUrl = returnUrlOf(pages, environment, intentRef, secret)
  const sql = pages.publisher.database.in(environment)
  const returned = await findReturnedPayment(sql, intentRef, returnUrl)
  if (returned === undefined) throw new ProblemError(problems.notFound)
  return returned
}
