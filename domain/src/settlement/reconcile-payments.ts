import { PaymentProcessorUnavailableError } from '@tollgate/platform/payments/payment-processor'
import type { Environment } from '@tollgate/schemas/environment'
import { claimIntentsToPoll } from '../payments/intents-repository.ts'
import { readCustomerTime } from '../test-clocks/customer-time.ts'
import { reconcileIntent, reconcileOperation } from './reconcile-intent.ts'
import type { PaymentJobParts } from './process-inbox.ts'

const intentsPerRoundMax = 50

/** Another process claims the payments of a dead process after this time. */
const claimedMs = 120_000

/** Checks payments that are not final at the processor, in case a webhook was lost. Returns whether more may be due. */
export async function reconcilePayments(
  parts: PaymentJobParts,
  environment: Environment,
): Promise<boolean> {
  if (parts.processors.of(environment) === undefined) return false
  const now = parts.now()
  const againAt = new Date(now.getTime() + claimedMs)
  const pool = parts.everyone.in(environment)
  const due = await claimIntentsToPoll(pool, now, againAt, intentsPerRoundMax)
  for (const { reference, ...customer } of due) {
    try {
      const at = await readCustomerTime(parts.database, environment, customer, parts.now())
      await reconcileIntent(
        parts,
        reconcileOperation(customer.providerId, environment, at),
        reference,
      )
    } catch (error) {
      const level = error instanceof PaymentProcessorUnavailableError ? 'warn' : 'error'
      parts.logger[level](
        { err: error, reference },
        'could not reconcile a payment; it is polled again later',
      )
    }
  }
  return due.length === intentsPerRoundMax
}
