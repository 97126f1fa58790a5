import { z } from 'zod'
import type { FastifyRequest } from 'fastify'
import { findReusablePaymentMethod } from '@tollgate/domain/cards/repository'
import type { AddOn } from '@tollgate/domain/catalog/add-on'
import { previewAddOn, type AddOnPreview } from '@tollgate/domain/previews/preview-add-on'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { addOnTimes, type AddOnTime } from '@tollgate/schemas/http/add-ons'
import { requiredReference } from '@tollgate/schemas/http/fields'
import { addOnQuantityMax } from '@tollgate/schemas/limits'
import type { ApiServer } from '../../access/api-server.ts'
import { read } from '../../access/read.ts'
import { changeAndCharge, type AddOnParts } from '../../purchases/change-add-ons.ts'
import { formFields } from '../form-fields.ts'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { AddOnReviewPage, AddOnsPage } from './add-ons-page.tsx'
import { doneNotice, type NoticeTable } from './done-notice.ts'
import { readOfferedAddOns } from './offered-add-ons.ts'
import { operationOfPortal, portalOf, portalPath } from './portal.ts'
import { purchasePath } from './purchase-card.tsx'
import { requirePurchase, type PortalPurchaseParts } from './purchase-routes.ts'

type Parts = PortalPurchaseParts & AddOnParts

const schema = {
  hide: true,
  params: z.object({ handle: z.string(), purchaseRef: requiredReference }),
}

const choiceSchema = z.object({
  addOn: requiredReference,
  quantity: z.coerce.number().int().min(0).max(addOnQuantityMax),
  when: z.enum(addOnTimes),
})

const notices: NoticeTable = {
  changed: { tone: 'good', text: 'portal:addOnDone' },
  open: { tone: 'bad', text: 'portal:addOnUnpaid' },
  refused: { tone: 'bad', text: 'portal:addOnRefused' },
}

/** Registers the pages on which a customer attaches add-ons, changes their quantity and removes them. */
export function registerAddOnPages(app: ApiServer, pages: Parts): void {
  const path = `${portalPath}/:handle/purchases/:purchaseRef/add-ons`

  app.get(path, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const { purchase } = await requirePurchase(pages, request, request.params.purchaseRef)
    const offered = await readOfferedAddOns(pages, portal, purchase, new Date(pages.clock.now()))
    const notice = doneNotice(request, notices)
    return sendPage(reply, 200, AddOnsPage({ portal, purchase, offered, notice }))
  })

  app.get(`${path}/review`, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const { purchase } = await requirePurchase(pages, request, request.params.purchaseRef)
    const choice = await requireChoice(pages, request, purchase, request.query)
    const preview = await previewChoice(pages, request, purchase, choice)
    if (preview.kind === 'refused') {
      return reply.redirect(`${purchasePath(portal, purchase.reference)}/add-ons?done=refused`, 303)
    }
    const { addOn, quantity } = choice
    const needsCard = await lacksCard(pages, request, preview)
    const page = { portal, purchase, addOn, quantity, preview, needsCard }
    return sendPage(reply, 200, AddOnReviewPage(page))
  })

  app.post(path, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const { purchase } = await requirePurchase(pages, request, request.params.purchaseRef)
    const choice = await requireChoice(pages, request, purchase, formFields(request))
    const preview = await previewChoice(pages, request, purchase, choice)
    const { quantity, when, addOn } = choice
    const wanted = { purchaseRef: purchase.reference, addOnRef: addOn.reference, quantity, when }
    const outcome = (await lacksCard(pages, request, preview))
      ? undefined
      : await changeAndCharge(pages, operationOfPortal(pages, request), wanted)
    if (outcome?.kind !== 'changed') {
      return reply.redirect(`${purchasePath(portal, purchase.reference)}/add-ons?done=refused`, 303)
    }
    const isOpen = outcome.invoiceRef !== undefined && !outcome.isPaid
    const changed = purchasePath(portal, outcome.purchase.reference)
    return reply.redirect(`${changed}/add-ons?done=${isOpen ? 'open' : 'changed'}`, 303)
  })
}

type Choice = { readonly addOn: AddOn; readonly quantity: number; readonly when: AddOnTime }

/** Returns the choice of the form. Shows a page about the refusal if the page does not offer the add-on. */
async function requireChoice(
  pages: Parts,
  request: FastifyRequest,
  purchase: Purchase,
  fields: unknown,
): Promise<Choice> {
  const portal = portalOf(request)
  const given = choiceSchema.safeParse(fields)
  const offered = await readOfferedAddOns(pages, portal, purchase, new Date(pages.clock.now()))
  const chosen = offered.find(({ addOn }) => addOn.reference === given.data?.addOn)
  if (given.data === undefined || chosen === undefined) {
    throw new ProblemError(problems.notForSale, portal.frame)
  }
  return { ...given.data, addOn: chosen.addOn }
}

/** Returns the preview of the change, for the renewal if it is not possible within the period, because it takes units away. */
async function previewChoice(
  { previews }: Parts,
  request: FastifyRequest,
  purchase: Purchase,
  choice: Choice,
) {
  const { caller, customer } = portalOf(request)
  return previews.run(caller, async (parts, at) => {
    const held = { purchase, customer }
    const preview = await previewAddOn(parts, at, held, choice)
    if (preview.kind !== 'refused' || preview.obstacle !== 'only_at_renewal') return preview
    return previewAddOn(parts, at, held, { ...choice, when: 'renewal' })
  })
}

/** Returns whether the change is charged now, and the customer has no saved card that can be charged. */
async function lacksCard(
  pages: Parts,
  request: FastifyRequest,
  preview: AddOnPreview,
): Promise<boolean> {
  if (preview.kind === 'refused' || (preview.invoice?.dueMinor ?? 0n) <= 0n) return false
  const { caller, customer } = portalOf(request)
  const card = await read(pages, caller, (sql) =>
    findReusablePaymentMethod(sql, caller.providerId, customer.reference),
  )
  return card === undefined
}
