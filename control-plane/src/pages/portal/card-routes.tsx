import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { removeCards } from '@tollgate/domain/cards/remove-cards'
import { findCard } from '@tollgate/domain/cards/repository'
import { setUpCard } from '@tollgate/domain/cards/set-up-card'
import { findSetup } from '@tollgate/domain/cards/setups-repository'
import { applySetup } from '@tollgate/domain/payments/apply-setup'
import { processorOf } from '@tollgate/domain/payments/payment-parts'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { ApiServer } from '../../http/api-server.ts'
import { read } from '../../http/read.ts'
import { originsFor, type CardEntry } from '../card-entry.ts'
import { formFields } from '../form-fields.ts'
import type { PageParts } from '../frame.ts'
import type { Notice } from '../notice.tsx'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { securityHeaders } from '../security-headers.ts'
import { EnterCardPage, PaymentPage, RemoveCardPage } from './payment-page.tsx'
import { operationOfPortal, portalOf, portalPath, type Portal } from './portal.ts'
import { isUnpaid, readUnpaid } from './unpaid-invoices.tsx'
import { readUsesOfCard } from './uses-of-card.ts'

const schema = { hide: true }
const params = z.object({ handle: z.string(), setupIntentId: requiredReference })
const path = `${portalPath}/:handle/payment`

const notices: Readonly<Record<string, Notice>> = {
  saved: { tone: 'good', text: 'Your card is saved.' },
  removed: { tone: 'good', text: 'Your card is removed.' },
}

const declined: Notice = {
  tone: 'bad',
  text: 'The card was not accepted, and nothing was changed. Please try again, or use another card.',
}

const unfinished: Notice = { tone: 'bad', text: 'No card was entered. Nothing was changed.' }

/** The saved card: shown, replaced by another one, removed. */
export function registerCardPages(app: ApiServer, pages: PageParts): void {
  app.get(path, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const { done } = request.query as { readonly done?: unknown }
    const notice =
      typeof done === 'string' && Object.hasOwn(notices, done) ? notices[done] : undefined
    const card = await cardOf(pages, portal)
    const uses = await readUsesOfCard(pages, portal)
    const isTaken = pages.cardEntries[portal.caller.environment].kind !== 'none'
    return sendPage(reply, 200, PaymentPage({ portal, card, uses, isTaken, notice }))
  })

  registerEntry(app, pages)

  app.get(`${path}/remove`, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const card = await cardOf(pages, portal)
    if (card === undefined) return reply.redirect(`${portal.path}/payment`, 303)
    const uses = await readUsesOfCard(pages, portal)
    return sendPage(reply, 200, RemoveCardPage({ portal, card, uses }))
  })

  app.post(`${path}/remove`, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const operation = operationOfPortal(pages, request)
    await removeCards(pages.payments, operation, portal.customer.reference)
    return reply.redirect(`${portal.path}/payment?done=removed`, 303)
  })
}

/** A set-up at the processor is begun, its card entered elsewhere, and what came of it taken over. */
function registerEntry(app: ApiServer, pages: PageParts): void {
  app.post(`${path}/card`, { schema }, async (request, reply) => {
    const { customer, path: own, frame } = portalOf(request)
    requireEntry(pages, portalOf(request))
    const { attempt } = formFields(request)
    // Of one page, pressed twice: one set-up.
    if (attempt === undefined || !/^[0-9a-f-]{36}$/.test(attempt)) {
      throw new ProblemError(problems.staleForm, frame)
    }
    const operation = operationOfPortal(pages, request)
    const setup = await setUpCard(pages.payments, operation, customer, attempt)
    return reply.redirect(`${own}/payment/card/${setup.setupIntentId}`, 303)
  })

  app.get(
    `${path}/card/:setupIntentId`,
    { schema: { hide: true, params } },
    async (request, reply) => {
      const { why } = request.query as { readonly why?: unknown }
      const notice = why === 'declined' ? declined : why === 'unfinished' ? unfinished : undefined
      return showEntry(pages, request, reply, request.params.setupIntentId, notice)
    },
  )

  app.get(
    `${path}/card/:setupIntentId/done`,
    { schema: { hide: true, params } },
    async (request, reply) => {
      const portal = portalOf(request)
      const { setupIntentId } = request.params
      await requireSetup(pages, portal, setupIntentId)
      const now = (): Date => new Date(pages.clock.now())
      const parts = { ...pages.payments, now }
      const applied = await applySetup(parts, portal.caller.environment, setupIntentId)
      switch (applied) {
        case 'saved':
          return reply.redirect(`${portal.path}/payment?done=saved`, 303)
        case 'declined':
          return reply.redirect(`${portal.path}/payment/card/${setupIntentId}?why=declined`, 303)
        case 'open':
          return reply.redirect(`${portal.path}/payment/card/${setupIntentId}?why=unfinished`, 303)
        case 'ended':
          return reply.redirect(`${portal.path}/payment`, 303)
      }
    },
  )
}

async function showEntry(
  pages: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  setupIntentId: string,
  notice: Notice | undefined,
): Promise<FastifyReply> {
  const portal = portalOf(request)
  const { environment } = portal.caller
  const entry = requireEntry(pages, portal)
  await requireSetup(pages, portal, setupIntentId)
  const processor = processorOf(pages.payments, environment)
  const setup = await processor.retrieve('setup_intent', setupIntentId)
  const { clientSecret } = setup ?? {}
  // Back from where it was entered: what came of it is shown, and no form that would be refused.
  if (clientSecret === undefined || setup?.status === 'succeeded' || setup?.status === 'canceled') {
    return reply.redirect(`${portal.path}/payment`, 303)
  }
  const own = portal.path.slice(pages.basePath.length)
  const returnUrl = `${pages.hostedUrl}${own}/payment/card/${setupIntentId}/done`
  void reply.headers(securityHeaders(originsFor(entry)))
  const hasUnpaid = (await readUnpaid(pages, portal)).some(isUnpaid)
  const shown = { portal, entry, setupIntentId, clientSecret, returnUrl, hasUnpaid, notice }
  return sendPage(reply, 200, EnterCardPage(shown))
}

function requireEntry(pages: PageParts, portal: Portal): Exclude<CardEntry, { kind: 'none' }> {
  const entry = pages.cardEntries[portal.caller.environment]
  if (entry.kind === 'none') throw new ProblemError(problems.noPayments, portal.frame)
  return entry
}

/** Of others it is not said that they exist. */
async function requireSetup(pages: PageParts, portal: Portal, id: string): Promise<void> {
  const { caller, customer, frame } = portal
  const setup = await read(pages, caller, (sql) => findSetup(sql, caller.providerId, id))
  if (setup?.customerRef !== customer.reference) throw new ProblemError(problems.notFound, frame)
}

function cardOf(pages: PageParts, { caller, customer }: Portal) {
  return read(pages, caller, (sql) => findCard(sql, caller.providerId, customer.reference))
}
