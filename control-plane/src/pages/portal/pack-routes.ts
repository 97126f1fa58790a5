import { z } from 'zod'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { ApiServer } from '../../access/api-server.ts'
import { formFields } from '../form-fields.ts'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { readOfferedPacks } from './offered-packs.ts'
import { PacksPage } from './packs-page.tsx'
import { portalOf, portalPath } from './portal.ts'
import { redirectToCheckout, requirePurchase, type PortalPurchaseParts } from './purchase-routes.ts'

const schema = {
  hide: true,
  params: z.object({ handle: z.string(), purchaseRef: requiredReference }),
}

/** Registers the page with the packs beside a purchase, and the form that opens the checkout of one of them. */
export function registerPackPages(app: ApiServer, pages: PortalPurchaseParts): void {
  const path = `${portalPath}/:handle/purchases/:purchaseRef/packs`

  app.get(path, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const { purchase } = await requirePurchase(pages, request, request.params.purchaseRef)
    const offered = await readOfferedPacks(pages, portal, purchase, new Date(pages.clock.now()))
    if (offered === undefined) throw new ProblemError(problems.notForSale, portal.frame)
    return sendPage(reply, 200, PacksPage({ portal, purchase, offered }))
  })

  app.post(path, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const { purchase } = await requirePurchase(pages, request, request.params.purchaseRef)
    const offered = await readOfferedPacks(pages, portal, purchase, new Date(pages.clock.now()))
    const planRef = formFields(request)['plan']
    // The form may name any plan. Only packs of the purchase's own product are sold here, so that a hidden plan is not.
    const chosen = offered?.packs.find(({ plan }) => plan.reference === planRef)
    if (chosen === undefined || chosen.isSoldOut) {
      throw new ProblemError(problems.notForSale, portal.frame)
    }
    const { plan } = chosen
    const sale = { purpose: 'product', productRef: plan.productRef, plan } as const
    return redirectToCheckout(pages, request, reply, sale)
  })
}
