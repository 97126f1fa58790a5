import type { FastifyRequest } from 'fastify'
import { findNextGrant } from '@tollgate/domain/credit-schedules/repository'
import { findAutoRecharge } from '@tollgate/domain/auto-recharge/repository'
import { findMerchant } from '@tollgate/domain/merchants/repository'
import { listMovements } from '@tollgate/domain/wallet/list-movements'
import { findCard } from '@tollgate/domain/cards/repository'
import type { AutoRechargeRequest } from '@tollgate/domain/auto-recharge/decide-recharge-terms'
import { purchasedCredits } from '@tollgate/domain/money/credits'
import { findExchangeRate, toFraction } from '@tollgate/domain/money/exchange-rates'
import type { HostedParts } from '@tollgate/domain/sessions/hosted-parts'
import { saveRequestedTerms } from '../../auto-recharge/save-requested-terms.ts'
import type { ApiServer } from '../../access/api-server.ts'
import type { ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { displayRateOf } from '../../access/require.ts'
import { parseMajor } from '../amount.ts'
import { formFields } from '../form-fields.ts'
import { submittedFormOf, refusalNotice, showFormAgain } from '../submitted-form.ts'
import { sendPage } from '../page.tsx'
import type { AutoRechargeFields } from './auto-recharge-form.tsx'
import { CreditsPage } from './credits-page.tsx'
import { findTypedFault, faultText, type TermsFault } from './terms-fault.ts'
import { movementsPerPage, type CreditsView } from './credits-view.ts'
import { doneNotice, type NoticeTable } from './done-notice.ts'
import { operationOfPortal, portalOf, portalPath } from './portal.ts'
import { redirectToCheckout } from './purchase-routes.ts'
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
    const submitted = submittedFormOf(request, portal)
    const typed = submitted === undefined ? undefined : typedFields(submitted.fields)
    const notice = doneNotice(request, notices) ?? refusalNotice(submitted)
    return sendPage(reply, 200, CreditsPage({ portal, view, typed, notice }))
  })

  app.post(`${creditsPath}/auto-recharge`, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const form = formFields(request)
    const typed = typedFields(form)
    const terms = {
      enabled: form['enabled'] === 'yes',
      currency: typed.currency,
      thresholdAmountMajor: parseMajor(typed.threshold),
      topupAmountMajor: parseMajor(typed.topup),
      maxMonthlySpendMajor: parseMajor(typed.monthlyMax),
    }
    const fault =
      findTypedFault(terms, typed.monthlyMax) ?? (await saveTerms(pages, request, terms))
    if (fault === undefined) return reply.redirect(`${portal.path}/credits?done=saved`, 303)
    const submitted = { fields: typed, text: faultText(fault, typed.currency, portal.frame) }
    return showFormAgain(pages, reply, portal, `${portal.path}/credits`, submitted)
  })

  app.post(`${portalPath}/:handle/top-up`, { schema }, (request, reply) =>
    redirectToCheckout(pages, request, reply, { purpose: 'credit_topup', productRef: null }),
  )
}

/** Stores the terms. Returns what is wrong with them, or undefined if they are stored. */
async function saveTerms(
  pages: ChangeParts,
  request: FastifyRequest,
  terms: AutoRechargeRequest,
): Promise<TermsFault | undefined> {
  const operation = operationOfPortal(pages, request)
  const { customer } = portalOf(request)
  const outcome = await saveRequestedTerms(pages, operation, customer.reference, terms)
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
      nextGrant: await findNextGrant(sql, providerId, customerRef),
      ...(await listMovements(sql, providerId, customerRef, range)),
      pageNumber,
      recharge,
      storedCredits:
        recharge === undefined || rate === undefined || recharge.topupMinor === 0n
          ? undefined
          : purchasedCredits(recharge.topupMinor, recharge.topupCurrency, toFraction(rate)),
      card: card?.reusable === true ? card : undefined,
      currencies: [...new Set([displayRate.currency, ...topupCurrencies])],
      canEnterCard: pages.cardEntries[caller.environment].kind !== 'none',
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
