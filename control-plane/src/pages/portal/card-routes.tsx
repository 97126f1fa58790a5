import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { removeCards } from '@tollgate/domain/settlement/remove-cards'
import { findCard } from '@tollgate/domain/cards/repository'
import { setUpCard } from '@tollgate/domain/settlement/set-up-card'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { ApiServer } from '../../access/api-server.ts'
import { read, type ReadParts } from '../../access/read.ts'
import {
  readOpenSetup,
  requireAttemptId,
  requireCardEntry,
  sendCardForm,
  finishSetup,
  setupNotice,
  type CardSetupParts,
} from '../card-setup.ts'
import { sendPage } from '../page.tsx'
import { doneNotice, type NoticeTable } from './done-notice.ts'
import { EnterCardPage, PaymentPage, RemoveCardPage } from './payment-page.tsx'
import { operationOfPortal, portalOf, portalPath, type Portal } from './portal.ts'
import { readBillingDetails } from './billing-details.ts'
import { readCardUses } from './card-uses.ts'
import type { PurchaseViewParts } from '../../purchases/present-purchases.ts'

type Parts = PurchaseViewParts &
  CardSetupParts & { readonly hostedUrl: string; readonly basePath: string }

const schema = { hide: true }
const params = z.object({ handle: z.string(), setupIntentId: requiredReference })
const path = `${portalPath}/:handle/payment`

const notices: NoticeTable = {
  saved: { tone: 'good', text: 'portal:cardSaved' },
  removed: { tone: 'good', text: 'portal:cardRemoved' },
  billing: { tone: 'good', text: 'portal:billingSaved' },
}

/** Registers the pages that show, replace and remove the saved card. */
export function registerCardPages(app: ApiServer, pages: Parts): void {
  app.get(path, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const notice = doneNotice(request, notices)
    const card = await cardOf(pages, portal)
    const uses = await readCardUses(pages, portal)
    const canEnterCard = pages.cardEntries[portal.caller.environment].kind !== 'none'
    const details = await readBillingDetails(pages, portal)
    const shown = { portal, card, uses, canEnterCard, details, notice }
    return sendPage(reply, 200, PaymentPage(shown))
  })

  registerCardEntry(app, pages)

  app.get(`${path}/remove`, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const card = await cardOf(pages, portal)
    if (card === undefined) return reply.redirect(`${portal.path}/payment`, 303)
    const uses = await readCardUses(pages, portal)
    return sendPage(reply, 200, RemoveCardPage({ portal, card, uses }))
  })

  app.post(`${path}/remove`, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const operation = operationOfPortal(pages, request)
    await removeCards(pages.payments, operation, portal.customer.reference)
    return reply.redirect(`${portal.path}/payment?done=removed`, 303)
  })
}

/**
 * Registers the entry of a card: a setup starts at the processor, the customer enters the card there, and its outcome is applied
 * here.
 */
function registerCardEntry(app: ApiServer, pages: Parts): void {
  app.post(`${path}/card`, { schema }, async (request, reply) => {
    const { customer, path: ownPath } = portalOf(request)
    requireCardEntry(pages, portalOf(request))
    const attempt = requireAttemptId(request, portalOf(request))
    const operation = operationOfPortal(pages, request)
    const setup = await setUpCard(pages.payments, operation, customer, attempt)
    return reply.redirect(`${ownPath}/payment/card/${setup.setupIntentId}`, 303)
  })

  app.get(
    `${path}/card/:setupIntentId`,
    { schema: { hide: true, params } },
    async (request, reply) => {
      return showCardEntry(pages, request, reply, request.params.setupIntentId)
    },
  )

  app.get(
    `${path}/card/:setupIntentId/done`,
    { schema: { hide: true, params } },
    async (request, reply) => {
      const portal = portalOf(request)
      const { setupIntentId } = request.params
      const payment = `${portal.path}/payment`
      const finished = await finishSetup(pages, portal, setupIntentId, {
        entry: `${payment}/card/${setupIntentId}`,
        ended: payment,
      })
      const nextPath = finished === 'saved' ? `${payment}?done=saved` : finished.continuePath
      return reply.redirect(nextPath, 303)
    },
  )
}

async function showCardEntry(
  pages: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  setupIntentId: string,
): Promise<FastifyReply> {
  const portal = portalOf(request)
  const ownPath = portal.path.slice(pages.basePath.length)
  const returnUrl = `${pages.hostedUrl}${ownPath}/payment/card/${setupIntentId}/done`
  const setup = await readOpenSetup(pages, portal, setupIntentId, returnUrl)
  if (setup === undefined) return reply.redirect(`${portal.path}/payment`, 303)
  const notice = setupNotice(request, portal.frame)
  return sendCardForm(reply, setup, EnterCardPage({ portal, setup, notice }))
}

function cardOf(pages: ReadParts, { caller, customer }: Portal) {
  return read(pages, caller, (sql) => findCard(sql, caller.providerId, customer.reference))
}
