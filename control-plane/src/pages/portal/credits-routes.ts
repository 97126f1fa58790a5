import type { FastifyRequest } from 'fastify'
import { findAutoRecharge } from '@tollgate/domain/auto-recharge/repository'
import { findMerchant } from '@tollgate/domain/merchants/repository'
import { openCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { listMovements } from '@tollgate/domain/wallet/list-movements'
import { findCard } from '@tollgate/domain/cards/repository'
import type { AutoRechargeRequest } from '@tollgate/domain/auto-recharge/decide-terms'
import { purchasedCredits } from '@tollgate/domain/money/credits'
import { findExchangeRate, toFraction } from '@tollgate/domain/money/exchange-rates'
import type { HostedParts } from '@tollgate/domain/sessions/hosted-parts'
import { saveAskedTerms } from '../../auto-recharge/save-asked-terms.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { displayRateOf } from '../../access/require.ts'
import { majorOf } from '../amount.ts'
import { handleOf } from '../cookies.ts'
import { formFields } from '../form-fields.ts'
import { keptFormOf, noticeOf, sendBack } from '../kept-form.ts'
import { sendPage } from '../page.tsx'
import type { AutoRechargeFields } from './auto-recharge-form.tsx'
import { CreditsPage } from './credits-page.tsx'
import { faultBeforehand, faultText, type TermsFault } from './terms-fault.ts'
import { movementsPerPage, type CreditsView } from './credits-view.ts'
import { noticeOfDone, type NoticeTable } from './notice-of-done.ts'
import { operationOfPortal, portalOf, portalPath } from './portal.ts'
import type { Wallets } from '../../wallets/wallets.ts'
import type { CardEntries } from '../card-entry.ts'

export type PortalCreditsParts = ChangeParts &
  HostedParts & {
    readonly wallets: Wallets
    readonly cardEntries: CardEntries
    readonly basePath: string
  }

const schema = { hide: true }
const creditsPath = `${portalPath}/:handle/credits`

const notices: NoticeTable = { saved: { tone: 'good', text: 'portal:autoTopUpSaved' } }

export function registerCreditPages(app: ApiServer, pages: PortalCreditsParts): void {
  app.get(creditsPath, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const { page } = request.query as { readonly page?: unknown }
    const view = await readCredits(pages, request, pageNumberOf(page))
    const kept = keptFormOf(request, portal)
    const typed = kept === undefined ? undefined : typedFields(kept.fields)
    const notice = noticeOfDone(request, notices) ?? noticeOf(kept)
    return sendPage(reply, 200, CreditsPage({ portal, view, typed, notice }))
  })

  app.post(`${creditsPath}/auto-recharge`, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const form = formFields(request)
    const typed = typedFields(form)
    const asked = {
      enabled: form['enabled'] === 'yes',
      currency: typed.currency,
      thresholdAmountMajor: majorOf(typed.threshold),
      topupAmountMajor: majorOf(typed.topup),
      maxMonthlySpendMajor: majorOf(typed.monthlyMax),
    }
    const fault =
      faultBeforehand(asked, typed.monthlyMax) ?? (await saveTerms(pages, request, asked))
    if (fault === undefined) return reply.redirect(`${portal.path}/credits?done=saved`, 303)
    const kept = { fields: typed, text: faultText(fault, typed.currency, portal.frame) }
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

/** Stores the terms. Returns what is wrong with them, or undefined if they are stored. */
async function saveTerms(
  pages: ChangeParts,
  request: FastifyRequest,
  asked: AutoRechargeRequest,
): Promise<TermsFault | undefined> {
  const operation = operationOfPortal(pages, request)
  const { customer } = portalOf(request)
  const outcome = await saveAskedTerms(pages, operation, customer.reference, asked)
  return outcome.kind === 'saved' ? undefined : outcome.fault
}

async function readCredits(
  pages: PortalCreditsParts,
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
    const recharge = await findAutoRecharge(sql, providerId, customerRef)
    const rate = recharge && (await findExchangeRate(sql, providerId, recharge.topupCurrency))
    const card = await findCard(sql, providerId, customerRef)
    const range = { limit: movementsPerPage, offset: (pageNumber - 1) * movementsPerPage }
    return {
      leftMicros,
      displayRate,
      ...(await listMovements(sql, providerId, customerRef, range)),
      pageNumber,
      recharge,
      storedCredits:
        recharge === undefined || rate === undefined || recharge.topupMinor === 0n
          ? undefined
          : purchasedCredits(recharge.topupMinor, recharge.topupCurrency, toFraction(rate)),
      card: card?.reusable === true ? card : undefined,
      currencies: [...new Set([displayRate.currency, ...topupCurrencies])],
      isCardTaken: pages.cardEntries[caller.environment].kind !== 'none',
    }
  })
}

/** Returns the page number, or 1 if the text is malformed. A page beyond the last one is empty and causes no extra cost. */
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
