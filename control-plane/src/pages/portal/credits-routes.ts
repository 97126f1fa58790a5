import type { FastifyRequest } from 'fastify'
import { findAutoRecharge } from '@tollgate/domain/auto-recharge/repository'
import { findMerchant } from '@tollgate/domain/merchants/repository'
import { openCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { listMovements } from '@tollgate/domain/wallet/list-movements'
import { saveAskedTerms } from '../../auto-recharge/save-asked-terms.ts'
import type { ApiServer } from '../../http/api-server.ts'
import { commit } from '../../http/commit.ts'
import { read } from '../../http/read.ts'
import { displayRateOf } from '../../http/require.ts'
import { majorOf } from '../amount.ts'
import { handleOf } from '../cookies.ts'
import { formFields } from '../form-fields.ts'
import type { PageParts } from '../frame.ts'
import { keptFormOf, noticeOf, sendBack } from '../kept-form.ts'
import { sendPage } from '../page.tsx'
import type { AutoRechargeFields } from './auto-recharge-form.tsx'
import { CreditsPage } from './credits-page.tsx'
import { movementsPerPage, type CreditsView } from './credits-view.ts'
import type { Notice } from '../notice.tsx'
import { operationOfPortal, portalOf, portalPath } from './portal.ts'

const schema = { hide: true }
const creditsPath = `${portalPath}/:handle/credits`

const saved: Notice = { tone: 'good', text: 'Automatic top-up is saved.' }

export function registerCreditPages(app: ApiServer, pages: PageParts): void {
  app.get(creditsPath, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const { page, done } = request.query as { readonly page?: unknown; readonly done?: unknown }
    const view = await readCredits(pages, request, pageNumberOf(page))
    const kept = keptFormOf(request, portal)
    const typed = kept === undefined ? undefined : typedFields(kept.fields)
    const notice = done === 'saved' ? saved : noticeOf(kept)
    return sendPage(reply, 200, CreditsPage({ portal, view, typed, notice }))
  })

  app.post(`${creditsPath}/auto-recharge`, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const form = formFields(request)
    const typed = typedFields(form)
    const outcome = await saveAskedTerms(
      pages,
      operationOfPortal(pages, request),
      portal.customer.reference,
      {
        enabled: form['enabled'] === 'yes',
        currency: typed.currency,
        thresholdAmountMajor: majorOf(typed.threshold),
        topupAmountMajor: majorOf(typed.topup),
        maxMonthlySpendMajor: majorOf(typed.monthlyMax),
      },
    )
    if (outcome.kind === 'saved') return reply.redirect(`${portal.path}/credits?done=saved`, 303)
    const kept = { fields: typed, text: wordsOf(outcome.reason) }
    return sendBack(pages, reply, portal, `${portal.path}/credits`, kept)
  })

  app.post(`${portalPath}/:handle/top-up`, { schema }, async (request, reply) => {
    const { customer, path, session } = portalOf(request)
    const { sessionId } = await commit(pages, operationOfPortal(pages, request), (work) =>
      openCheckoutSession(work, pages, {
        customerRef: customer.reference,
        purpose: 'credit_topup',
        productRef: null,
        plan: undefined,
        returnUrl: new URL(path, pages.hostedUrl).href,
        mayChangePlan: true,
        portalHandle: handleOf(session.sessionId),
        locale: session.locale,
      }),
    )
    return reply.redirect(`${pages.basePath}/customer/checkout?id=${sessionId}`, 303)
  })
}

async function readCredits(
  pages: PageParts,
  request: FastifyRequest,
  pageNumber: number,
): Promise<CreditsView> {
  const { caller, customer } = portalOf(request)
  const { providerId } = caller
  const { reference: customerRef } = customer
  const leftMicros = await pages.wallets.read({ ...caller, customerRef })
  const displayRate = await displayRateOf(pages, caller)
  return read(pages, caller, async (sql) => {
    const { topupCurrencies } = await findMerchant(sql, providerId)
    const range = { limit: movementsPerPage, offset: (pageNumber - 1) * movementsPerPage }
    return {
      leftMicros,
      displayRate,
      ...(await listMovements(sql, providerId, customerRef, range)),
      pageNumber,
      recharge: await findAutoRecharge(sql, providerId, customerRef),
      currencies: [...new Set([displayRate.currency, ...topupCurrencies])],
      isCardTaken: pages.cardEntries[caller.environment].kind !== 'none',
    }
  })
}

/** Pages far beyond the last one are empty, and cost no more. */
function pageNumberOf(text: unknown): number {
  return typeof text === 'string' && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 1
}

function typedFields(form: Readonly<Record<string, string>>): AutoRechargeFields {
  const textOf = (name: string): string => form[name]?.trim().slice(0, 32) ?? ''
  return {
    threshold: textOf('threshold'),
    topup: textOf('topup'),
    currency: textOf('currency').toUpperCase(),
    monthlyMax: textOf('monthlyMax'),
  }
}

/** The API names its fields; a form has labels. */
const fieldWords: readonly (readonly [string, string])[] = [
  ['thresholdAmountMajor', 'the balance below which credits are bought'],
  ['topupAmountMajor', 'the amount to buy credits for'],
  ['maxMonthlySpendMajor', 'the most of a month'],
]

function wordsOf(reason: string): string {
  const text = fieldWords.reduce((sum, [field, words]) => sum.replaceAll(field, words), reason)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
