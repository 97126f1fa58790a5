import { decideTerms, shownMinor } from '@tollgate/domain/auto-recharge/decide-terms'
import {
  disableAutoRecharge,
  findAutoRecharge,
  saveAutoRecharge,
  type AutoRecharge,
} from '@tollgate/domain/auto-recharge/repository'
import { findCard } from '@tollgate/domain/cards/repository'
import { findMerchant } from '@tollgate/domain/merchants/repository'
import {
  dollarRate,
  findExchangeRate,
  type ExchangeRate,
} from '@tollgate/domain/money/exchange-rates'
import {
  autoRechargeDeletedResponseSchema,
  autoRechargeQuerySchema,
  autoRechargeResponseSchema,
  autoRechargeUpdatedResponseSchema,
  autoRechargeUpdateSchema,
  type AutoRechargeConfigBody,
  type AutoRechargeDisplayBody,
} from '@tollgate/schemas/http/auto-recharge'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../api-server.ts'
import type { AppParts } from '../app-parts.ts'
import { callerOf, type Caller } from '../plugins/authentication.ts'
import { requireCustomer, requireProvider } from '../require.ts'
import {
  autoRechargeDisplay,
  autoRechargeToHttp,
  autoRechargeValidation,
} from '../translate/auto-recharge.ts'

const path = '/v1/sdk/auto-recharge'
const tags = ['Credits']

/** What a customer wants to be charged for when credits run low. The charging itself is the billing runner's. */
export function registerAutoRechargeRoutes(app: ApiServer, parts: AppParts): void {
  app.get(
    path,
    {
      schema: {
        tags,
        querystring: autoRechargeQuerySchema,
        response: { 200: autoRechargeResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const pool = parts.database.in(caller.environment)
      const { reference: customerRef } = await requireCustomer(
        parts,
        caller,
        request.query.customerRef,
      )
      const recharge = await findAutoRecharge(pool, caller.providerId, customerRef)
      const validation = autoRechargeValidation
      if (recharge === undefined) return { config: null, validation }
      return { ...(await present(parts, caller, recharge)), validation }
    },
  )

  app.delete(
    path,
    {
      schema: {
        tags,
        querystring: autoRechargeQuerySchema,
        response: { 200: autoRechargeDeletedResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const pool = parts.database.in(caller.environment)
      const { reference: customerRef } = await requireCustomer(
        parts,
        caller,
        request.query.customerRef,
      )
      const now = new Date(parts.clock.now())
      await disableAutoRecharge(pool, caller.providerId, customerRef, now)
      return { success: true as const }
    },
  )

  registerUpdate(app, parts)
}

function registerUpdate(app: ApiServer, parts: AppParts): void {
  app.put(
    path,
    {
      schema: {
        tags,
        body: autoRechargeUpdateSchema,
        response: { 200: autoRechargeUpdatedResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { providerId, environment } = caller
      const pool = parts.database.in(environment)
      const { customerRef: given, ...asked } = request.body
      const { reference: customerRef } = await requireCustomer(parts, caller, given)
      const currency = asked.currency.toUpperCase()
      const { topupCurrencies } = await findMerchant(pool, providerId)
      const displayRate = await displayRateOf(parts, caller)
      const decision = decideTerms(
        {
          enabled: asked.enabled,
          currency,
          thresholdAmountMajor: asked.thresholdAmountMajor,
          topupAmountMajor: asked.topupAmountMajor,
          maxMonthlySpendMajor: asked.maxMonthlySpendMajor,
        },
        {
          stored: await findAutoRecharge(pool, providerId, customerRef),
          supportedCurrencies: [displayRate.currency, ...topupCurrencies],
          displayRate,
          topupRate: await findExchangeRate(pool, providerId, currency),
          hasReusableCard: (await findCard(pool, providerId, customerRef))?.reusable ?? false,
        },
      )
      if (decision.kind === 'refuse') throw refusals.autoRechargeInvalid(decision.reason)
      const now = new Date(parts.clock.now())
      const saved = await saveAutoRecharge(pool, providerId, customerRef, decision.terms, now)
      const publishableKey = parts.publishableKeys[environment]
      return {
        ...(await present(parts, caller, saved)),
        ...(publishableKey === '' ? {} : { publishableKey }),
      }
    },
  )
}

/** Amounts of a currency that nobody knows a rate for any more are shown as they are, and the top-up not at all. */
async function present(
  parts: AppParts,
  caller: Caller,
  recharge: AutoRecharge,
): Promise<{ config: AutoRechargeConfigBody; display?: AutoRechargeDisplayBody }> {
  const { thresholdMinor, thresholdCurrency, topupMinor, topupCurrency } = recharge
  const pool = parts.database.in(caller.environment)
  const displayRate = await displayRateOf(parts, caller)
  const thresholdRate = await findExchangeRate(pool, caller.providerId, thresholdCurrency)
  const topupRate = await findExchangeRate(pool, caller.providerId, topupCurrency)
  const thresholdShown = shownMinor(thresholdMinor, thresholdRate ?? displayRate, displayRate)
  const config = autoRechargeToHttp(recharge, thresholdShown)
  if (topupRate === undefined) return { config }
  const topupShown = shownMinor(topupMinor, topupRate, displayRate)
  return { config, display: autoRechargeDisplay(thresholdShown, topupShown, displayRate) }
}

/** Balances are shown in the provider's currency; in dollars where nobody knows what it is worth. */
async function displayRateOf(parts: AppParts, caller: Caller): Promise<ExchangeRate> {
  const { defaultCurrency } = await requireProvider(parts, caller)
  const pool = parts.database.in(caller.environment)
  return (await findExchangeRate(pool, caller.providerId, defaultCurrency)) ?? dollarRate
}
