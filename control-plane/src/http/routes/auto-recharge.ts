import { convertMinor } from '@tollgate/domain/auto-recharge/decide-recharge-terms'
import {
  disableAutoRecharge,
  findAutoRecharge,
  saveRechargeSetup,
  type AutoRecharge,
} from '@tollgate/domain/auto-recharge/repository'
import { setUpCard } from '@tollgate/domain/settlement/set-up-card'
import type { Customer } from '@tollgate/domain/customers/repository'
import { findExchangeRate } from '@tollgate/domain/money/exchange-rates'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import {
  autoRechargeDeletedResponseSchema,
  autoRechargeQuerySchema,
  autoRechargeResponseSchema,
  autoRechargeUpdatedResponseSchema,
  autoRechargeUpdateSchema,
  type AutoRechargeConfigBody,
  type AutoRechargeDisplayBody,
} from '@tollgate/schemas/http/auto-recharge'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import type { Environment } from '@tollgate/schemas/environment'
import { saveRequestedTerms } from '../../auto-recharge/save-requested-terms.ts'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { displayRateOf, requireCustomer } from '../../access/require.ts'
import {
  autoRechargeFromHttp,
  autoRechargeDisplay,
  autoRechargeToHttp,
  autoRechargeValidation,
} from '../translate/auto-recharge.ts'

type Parts = ChangeParts & {
  readonly payments: PaymentParts
  readonly publishableKeys: Readonly<Record<Environment, string>>
}

const path = '/v1/sdk/auto-recharge'
const tags = ['Credits']

/** Registers the routes of a customer's automatic recharge. */
export function registerAutoRechargeRoutes(app: ApiServer, parts: Parts): void {
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
      const { reference } = await requireCustomer(parts, caller, request.query.customerRef)
      const recharge = await read(parts, caller, (sql) =>
        findAutoRecharge(sql, caller.providerId, reference),
      )
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
      const operation = operationOf(request, parts.clock)
      const { reference } = await requireCustomer(parts, operation, request.query.customerRef)
      await commit(parts, operation, (work) => disableAutoRecharge(work, reference))
      return { success: true as const }
    },
  )

  registerUpdate(app, parts)
}

function registerUpdate(app: ApiServer, parts: Parts): void {
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
      const operation = operationOf(request, parts.clock)
      const { customerRef: anyReference, ...terms } = request.body
      const customer = await requireCustomer(parts, operation, anyReference)
      const outcome = await saveRequestedTerms(
        parts,
        operation,
        customer.reference,
        autoRechargeFromHttp(terms),
      )
      if (outcome.kind === 'refused') throw refusals.autoRechargeInvalid(outcome.reason)
      const saved = outcome.recharge
      const needsCard = saved.status === 'pending_setup' && terms.deferSetupIntent !== true
      const setupClientSecret = needsCard
        ? await setUpRechargeCard(parts, operation, customer, saved)
        : undefined
      const publishableKey = parts.publishableKeys[operation.environment]
      return {
        ...(await present(parts, operation, saved)),
        ...(setupClientSecret === undefined ? {} : { setupClientSecret }),
        ...(publishableKey === '' ? {} : { publishableKey }),
      }
    },
  )
}

/**
 * Starts the setup of a card for the recharge. Without a payment processor, the terms stay stored, as they do while the card is
 * missing.
 */
async function setUpRechargeCard(
  { payments }: { readonly payments: PaymentParts },
  operation: Operation,
  customer: Customer,
  { updatedAt }: AutoRecharge,
): Promise<string | undefined> {
  if (payments.processors.of(operation.environment) === undefined) return undefined
  const setup = await setUpCard(payments, operation, customer, updatedAt.toISOString())
  await payments.commit(operation, ({ sql, providerId }) =>
    saveRechargeSetup(sql, providerId, customer.reference, setup.setupIntentId),
  )
  return setup.clientSecret
}

/**
 * Returns the terms in the currency of the balance. If a currency no longer has a rate, its threshold is shown unconverted, and its
 * top-up is omitted.
 */
async function present(
  parts: ReadParts,
  caller: Caller,
  recharge: AutoRecharge,
): Promise<{ config: AutoRechargeConfigBody; display?: AutoRechargeDisplayBody }> {
  const { thresholdMinor, thresholdCurrency, topupMinor, topupCurrency } = recharge
  const displayRate = await displayRateOf(parts, caller)
  const { thresholdRate, topupRate } = await read(parts, caller, async (sql) => ({
    thresholdRate: await findExchangeRate(sql, caller.providerId, thresholdCurrency),
    topupRate: await findExchangeRate(sql, caller.providerId, topupCurrency),
  }))
  const thresholdShown = convertMinor(thresholdMinor, thresholdRate ?? displayRate, displayRate)
  const config = autoRechargeToHttp(recharge, thresholdShown)
  if (topupRate === undefined) return { config }
  const topupShown = convertMinor(topupMinor, topupRate, displayRate)
  return { config, display: autoRechargeDisplay(thresholdShown, topupShown, displayRate) }
}
