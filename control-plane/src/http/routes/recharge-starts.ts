import { beginRecharge } from '@tollgate/domain/charging/recharge-wallets'
import {
  rechargeBeginningSchema,
  rechargeBeginningsPath,
  rechargeBegunSchema,
  type RechargeRefusal,
} from '@tollgate/schemas/http/auto-recharge'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import type { ApiServer } from '../../access/api-server.ts'
import { operationOf } from '../../access/caller.ts'
import type { Wallets } from '../../wallets/wallets.ts'

type Parts = { readonly clock: Clock; readonly wallets: Wallets; readonly payments: PaymentParts }

/**
 * Registers the route that starts an automatic top-up. The data plane calls it after a debit that may have crossed the threshold.
 * Of many concurrent requests, only one starts the top-up, because the claim is a single row of the customer.
 */
export function registerRechargeStartRoute(app: ApiServer, parts: Parts): void {
  app.post(
    rechargeBeginningsPath,
    {
      config: { scope: 'ingest' },
      schema: {
        hide: true,
        body: rechargeBeginningSchema,
        response: { 200: rechargeBegunSchema },
      },
    },
    async (request) => {
      const { environment, providerId, now } = operationOf(request, parts.clock)
      const { customerRef } = request.body
      const { payments, wallets } = parts
      if (payments.processors.of(environment) === undefined) return notTriggered('no_processor')
      // Only counted usage starts a charge, because credits held by a limit check may be released.
      const hot = await wallets.readHot({ environment, providerId, customerRef })
      if (hot === undefined) return notTriggered('counters_behind')
      const name = { providerId, customerRef }
      const started = await beginRecharge(payments, environment, name, now, hot.usedMicros)
      if (started.kind === 'refused') return notTriggered(started.reason)
      // The payment is stored, so the response does not wait for the processor. After a crash, the reconciliation job completes it.
      started.charge().catch((error: unknown) => {
        request.log.warn({ err: error }, 'could not charge a recharge; reconciliation completes it')
      })
      return { triggered: true }
    },
  )
}

function notTriggered(reason: RechargeRefusal) {
  return { triggered: false, reason }
}
