import { PaymentProcessorUnavailableError } from '@tollgate/platform/payments/payment-processor'
import type { Environment } from '@tollgate/schemas/environment'
import { claimDueRefunds } from '../payments/requested-refunds-repository.ts'
import { readCustomerTime } from '../test-clocks/customer-time.ts'
import type { PaymentJobParts } from './process-inbox.ts'
import { reconcileOperation } from './reconcile-intent.ts'
import { sendRefund } from './send-refund.ts'

const refundsPerRoundMax = 50

/** Another process claims the refunds of a dead process after this time. */
const claimedMs = 120_000

/** Continues requested refunds whose process died, or whose call had an unknown outcome. Returns whether more may be due. */
export async function resumeRefunds(
  parts: PaymentJobParts,
  environment: Environment,
): Promise<boolean> {
  if (parts.processors.of(environment) === undefined) return false
  const now = parts.now()
  const againAt = new Date(now.getTime() + claimedMs)
  const due = await claimDueRefunds(
    parts.everyone.in(environment),
    now,
    againAt,
    refundsPerRoundMax,
  )
  for (const { reference, ...customer } of due) {
    try {
      const at = await readCustomerTime(parts.database, environment, customer, parts.now())
      const operation = reconcileOperation(customer.providerId, environment, at)
      await sendRefund(parts, operation, reference)
    } catch (error) {
      const level = error instanceof PaymentProcessorUnavailableError ? 'warn' : 'error'
      parts.logger[level](
        { err: error, reference },
        'could not continue a requested refund; it is continued later',
      )
    }
  }
  return due.length === refundsPerRoundMax
}
