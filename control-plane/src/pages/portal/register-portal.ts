import { closePortal } from '@tollgate/domain/sessions/customer-sessions'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ApiServer } from '../../access/api-server.ts'
import { sendPage } from '../page.tsx'
import { ProblemPage, problems } from '../problem.tsx'
import { registerAddOnPages } from './add-on-routes.ts'
import { registerBudgetForm } from './budget-routes.ts'
import { registerBillingPages } from './billing-routes.ts'
import { registerCardPages } from './card-routes.tsx'
import { registerCreditPages, type PortalCreditsParts } from './credits-routes.ts'
import { registerInvoicePages } from './invoice-routes.ts'
import { registerPortalOpening, type OpenPortalParts } from './open-portal.tsx'
import { registerPackPages } from './pack-routes.ts'
import { portalOf, portalPath, requirePortal } from './portal.ts'
import { registerPurchasePages, type PortalPurchaseParts } from './purchase-routes.ts'
import { registerReturn, type ReturnPageParts } from './return-routes.tsx'
import { registerUnpaidPages } from './unpaid-routes.tsx'
import type { ReadParts } from '../../access/read.ts'
import type { AddOnParts } from '../../purchases/change-add-ons.ts'

export type PortalPagesParts = PortalPurchaseParts &
  AddOnParts &
  OpenPortalParts &
  PortalCreditsParts &
  ReturnPageParts

const params = z.object({ handle: z.string() })

/** Registers the portal, in which customers see and change their plans, usage, credits and payments. */
export function registerPortal(app: ApiServer, pages: PortalPagesParts): void {
  registerPortalOpening(app, pages)
  registerReturn(app, pages)
  void app.register((instance, _options, done) => {
    const portal = instance.withTypeProvider<ZodTypeProvider>()
    portal.decorateRequest('portal', null)
    // Check the portal after the body is parsed, because a form is authenticated by its token.
    portal.addHook('preHandler', async (request) => {
      const { handle } = params.parse(request.params)
      request.portal = await requirePortal(pages, request, handle)
    })
    registerPurchasePages(portal, pages)
    registerBudgetForm(portal, pages)
    registerPackPages(portal, pages)
    registerAddOnPages(portal, pages)
    registerCreditPages(portal, pages)
    registerInvoicePages(portal, pages)
    registerCardPages(portal, pages)
    registerBillingPages(portal, pages)
    registerUnpaidPages(portal, pages)
    registerSignOut(portal, pages)
    done()
  })
}

function registerSignOut(app: ApiServer, pages: ReadParts & { readonly clock: Clock }): void {
  app.post(`${portalPath}/:handle/sign-out`, { schema: { hide: true } }, async (request, reply) => {
    const { caller, session, frame } = portalOf(request)
    const { providerId, environment } = caller
    const now = new Date(pages.clock.now())
    await pages.database
      .of(providerId)
      .in(environment)
      .write((sql) => closePortal(sql, providerId, session.sessionId, now))
    // The cookie stays: it no longer grants access, but lets the page name the provider at the next visit.
    return sendPage(reply, 200, ProblemPage({ frame, problem: problems.closed }))
  })
}
