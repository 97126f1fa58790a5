import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { cancelPurchase } from '@tollgate/domain/purchases/cancel-purchase'
import { reactivatePurchase } from '@tollgate/domain/purchases/reactivate-purchase'
import { withdrawChoice } from '@tollgate/domain/purchases/schedule-plan'
import { findProduct } from '@tollgate/domain/catalog/products-repository'
import { openCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { longText, requiredReference } from '@tollgate/schemas/http/fields'
import type { Plan } from '@tollgate/domain/plans/plan'
import type { HostedParts } from '@tollgate/domain/sessions/hosted-parts'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import {
  shownPurchasesOf,
  type PurchaseViewParts,
  type ShownPurchase,
} from '../../purchases/present-purchases.ts'
import { readPackUnits } from '../../purchases/read-pack-units.ts'
import { handleOf } from '../cookies.ts'
import { formFields } from '../form-fields.ts'
import { refusalNotice, submittedFormOf } from '../submitted-form.ts'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { OverviewPage, readOverview } from './overview.tsx'
import { doneNotice, type NoticeTable } from './done-notice.ts'
import { operationOfPortal, portalOf, portalPath } from './portal.ts'
import { readCancelPreview, type CancelPreviewParts } from './read-cancel-preview.ts'
import { readOfferedAddOns } from './offered-add-ons.ts'
import { readOfferedPacks } from './offered-packs.ts'
import { purchasePath } from './purchase-card.tsx'
import { CancelPage, PurchasePage } from './purchase-page.tsx'
import { readSpendControl } from './read-spend-control.ts'
import { purchaseUsageCharts, type UsageChartParts } from './purchase-usage-charts.ts'
import { readSuspensionReasons } from './read-suspension-reasons.ts'

export type PortalPurchaseParts = PurchaseViewParts &
  CancelPreviewParts &
  HostedParts &
  UsageChartParts & { readonly publisher: PublisherParts; readonly basePath: string }

const params = z.object({ handle: z.string(), purchaseRef: requiredReference })
const schema = { hide: true, params }
const purchasesPath = `${portalPath}/:handle/purchases/:purchaseRef`

/** Notices that the page shows after a change, by the value of `done` in its address. */
const notices: NoticeTable = {
  cancelled: { tone: 'good', text: 'portal:doneCancelled' },
  reactivated: { tone: 'good', text: 'portal:doneReactivated' },
  kept: { tone: 'good', text: 'portal:doneKept' },
  'budget-saved': { tone: 'good', text: 'portal:budgetSaved' },
  'budget-removed': { tone: 'good', text: 'portal:budgetRemoved' },
  refused: { tone: 'bad', text: 'portal:doneRefused' },
}

export function registerPurchasePages(app: ApiServer, pages: PortalPurchaseParts): void {
  app.get(`${portalPath}/:handle`, { schema: { hide: true } }, async (request, reply) => {
    const portal = portalOf(request)
    const now = new Date(pages.clock.now())
    const overview = await readOverview(pages, portal, now)
    return sendPage(
      reply,
      200,
      OverviewPage({ portal, overview, now, notice: doneNotice(request, notices) }),
    )
  })

  app.get(purchasesPath, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const shown = await requirePurchase(pages, request, request.params.purchaseRef)
    const charts = await purchaseUsageCharts(pages, portal.caller, shown.purchase)
    const now = new Date(pages.clock.now())
    const { purchase } = shown
    const suspension = (await readSuspensionReasons(pages, portal, [purchase])).get(
      purchase.reference,
    )
    const control = await readSpendControl(pages, portal, purchase, now)
    const notice = doneNotice(request, notices) ?? refusalNotice(submittedFormOf(request, portal))
    const packs = purchase.isPack
      ? await readPackUnits(pages, portal.caller, portal.customer.reference)
      : undefined
    const pack = packs?.get(purchase.reference)
    const addOns = await readOfferedAddOns(pages, portal, purchase, now)
    const isOffering = (await readOfferedPacks(pages, portal, purchase, now)) !== undefined
    const page = {
      ...{ portal, shown, suspension, pack, isOffering },
      ...{ charts, control, now, notice, hasAddOns: addOns.length > 0 },
    }
    return sendPage(reply, 200, PurchasePage(page))
  })

  registerChanges(app, pages)
  registerPlanChoice(app, pages)
}

function registerChanges(app: ApiServer, pages: PortalPurchaseParts): void {
  app.get(`${purchasesPath}/cancel`, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const { purchase } = await requirePurchase(pages, request, request.params.purchaseRef)
    const { decision, invoices } = await readCancelPreview(pages, portal, purchase, request.log)
    if (decision.kind === 'already-cancelled' || decision.kind === 'refuse') {
      return reply.redirect(purchasePath(portal, purchase.reference), 303)
    }
    return sendPage(reply, 200, CancelPage({ portal, purchase, decision, invoices }))
  })

  app.post(`${purchasesPath}/cancel`, { schema }, async (request, reply) => {
    const { purchase } = await requirePurchase(pages, request, request.params.purchaseRef)
    const reason = longText.safeParse(formFields(request)['reason']?.trim())
    const given = reason.success && reason.data !== '' ? reason.data : null
    const outcome = await commit(pages, operationOfPortal(pages, request), (work) =>
      cancelPurchase(work, purchase.reference, given),
    )
    return redirectTo(request, reply, purchase.reference, outcome.kind)
  })

  app.post(`${purchasesPath}/keep`, { schema }, async (request, reply) => {
    const { purchase } = await requirePurchase(pages, request, request.params.purchaseRef)
    const kept = await commit(pages, operationOfPortal(pages, request), (work) =>
      withdrawChoice(work, purchase.reference),
    )
    return redirectTo(request, reply, purchase.reference, kept === undefined ? 'refused' : 'kept')
  })

  app.post(`${purchasesPath}/reactivate`, { schema }, async (request, reply) => {
    const { purchase } = await requirePurchase(pages, request, request.params.purchaseRef)
    const outcome = await commit(pages, operationOfPortal(pages, request), (work) =>
      reactivatePurchase(work, purchase.reference),
    )
    return redirectTo(request, reply, purchase.reference, outcome.kind)
  })
}

/** Registers the form that opens a checkout in which the customer chooses a plan. */
function registerPlanChoice(app: ApiServer, pages: PortalPurchaseParts): void {
  const route = `${portalPath}/:handle/products/:productRef/plans`
  const named = z.object({ handle: z.string(), productRef: requiredReference })
  app.post(route, { schema: { hide: true, params: named } }, async (request, reply) => {
    const { caller, frame } = portalOf(request)
    const { productRef } = request.params
    const product = await read(pages, caller, (sql) =>
      findProduct(sql, caller.providerId, productRef),
    )
    if (product?.status !== 'active') throw new ProblemError(problems.notFound, frame)
    const sale = { purpose: 'product', productRef: product.reference } as const
    return redirectToCheckout(pages, request, reply, sale)
  })
}

/** Opens a checkout for the customer of the portal and redirects to it. Its return link leads back to the portal. */
export async function redirectToCheckout(
  pages: ChangeParts & HostedParts & { readonly basePath: string },
  request: FastifyRequest,
  reply: FastifyReply,
  sale:
    | { readonly purpose: 'product'; readonly productRef: string; readonly plan?: Plan }
    | { readonly purpose: 'credit_topup'; readonly productRef: null },
): Promise<FastifyReply> {
  const { customer, path, session } = portalOf(request)
  const { sessionId } = await commit(pages, operationOfPortal(pages, request), (work) =>
    openCheckoutSession(work, pages, {
      plan: undefined,
      ...sale,
      customerRef: customer.reference,
      returnUrl: new URL(path, pages.hostedUrl).href,
      mayChangePlan: true,
      portalHandle: handleOf(session.sessionId),
      locale: session.locale,
    }),
  )
  return reply.redirect(`${pages.basePath}/customer/checkout?id=${sessionId}`, 303)
}

/** Returns a purchase of this customer. A purchase of another customer is refused like one that does not exist. */
export async function requirePurchase(
  pages: PortalPurchaseParts,
  request: FastifyRequest,
  reference: string,
): Promise<ShownPurchase> {
  const { caller, customer, frame } = portalOf(request)
  const filter = { reference, customerRef: customer.reference }
  const [shown] = await shownPurchasesOf(pages, caller, filter)
  if (shown === undefined) throw new ProblemError(problems.notFound, frame)
  return shown
}

function redirectTo(
  request: FastifyRequest,
  reply: FastifyReply,
  purchaseRef: string,
  done: string,
): FastifyReply {
  return reply.redirect(`${purchasePath(portalOf(request), purchaseRef)}?done=${done}`, 303)
}
