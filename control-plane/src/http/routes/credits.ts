import { z } from 'zod'
import { grantCredits } from '@tollgate/domain/wallet/grant-credits'
import {
  balanceSchema,
  creditsGrantedSchema,
  grantCreditsSchema,
  type BalanceBody,
} from '@tollgate/schemas/http/credits'
import { refusals } from '../../errors.ts'
import { readWalletBeforeChange } from '../../wallets/expire-wallet.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { displayRateOf, requireCustomer } from '../../access/require.ts'
import type { Wallets } from '../../wallets/wallets.ts'
import { creditsPerMinorUnit, creditValueMinor } from '@tollgate/domain/money/credits'
import { formatMoney, majorText } from '@tollgate/domain/money/currencies'
import { toFraction, type ExchangeRate } from '@tollgate/domain/money/exchange-rates'
import { wholeCredits } from '@tollgate/domain/money/whole-credits'

const tags = ['Credits']
const params = z.object({ reference: z.string() })

export function registerCreditRoutes(
  app: ApiServer,
  parts: ChangeParts & { readonly wallets: Wallets },
): void {
  app.get(
    '/v1/sdk/customers/:reference/balance',
    { schema: { tags, params, response: { 200: balanceSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const customer = await requireCustomer(parts, caller, request.params.reference)
      const customerRef = customer.reference
      const micros = await parts.wallets.read({ ...caller, customerRef })
      return balanceToHttp(customerRef, micros, await displayRateOf(parts, caller))
    },
  )

  app.post(
    '/v1/sdk/customers/:reference/credits',
    {
      schema: { tags, params, body: grantCreditsSchema, response: { 200: creditsGrantedSchema } },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const customer = await requireCustomer(parts, operation, request.params.reference)
      const { credits, reason, priority } = request.body
      const customerRef = customer.reference
      const expiresAt = request.body.expiresAt && new Date(request.body.expiresAt)
      const grant = { customerRef, credits, reason, priority, expiresAt: expiresAt || undefined }
      const hot = await readWalletBeforeChange(parts, { ...operation, customerRef })
      const outcome = await commit(parts, operation, (work) => grantCredits(work, grant, hot))
      switch (outcome.kind) {
        case 'granted':
          return outcome.body
        case 'customer-not-found':
          throw refusals.customerNotFound(request.params.reference)
        case 'key-reused':
          throw refusals.idempotencyKeyReused()
        case 'expired':
          throw refusals.creditsExpireInThePast()
        case 'full':
          throw refusals.walletFull(outcome.creditsMax)
      }
    },
  )
}

/** Converts the remaining credits of a wallet, in 10^-6 credits, with their value in the display currency of the provider. */
function balanceToHttp(
  customerRef: string,
  micros: bigint,
  displayRate: ExchangeRate,
): BalanceBody {
  const { currency, unitsPerDollar, source } = displayRate
  const credits = wholeCredits(micros)
  const worthMinor = creditValueMinor(BigInt(credits), currency, toFraction(displayRate))
  const exchangeRate = Number(unitsPerDollar)
  return {
    customerRef,
    credits,
    displayCurrency: currency,
    creditsPerMinorUnit: Number(creditsPerMinorUnit),
    displayExchangeRate: exchangeRate,
    display: {
      amountMajor: Number(majorText(worthMinor, currency)),
      currency,
      formatted: formatMoney(worthMinor, currency),
      exchangeRate,
      rateSource: source,
    },
  }
}
