import type { Environment } from '@tollgate/schemas/environment'
import { processorOf } from '../payments/payment-parts.ts'
import {
  claimRemovals,
  deleteProcessorCustomer,
  postponeRemoval,
} from '../payments/processor-customers-repository.ts'
import type { PaymentJobParts } from './process-inbox.ts'

const customersPerRoundMax = 20

/** Another process claims the customers of a dead process after this time. */
const claimedMs = 120_000

const hourMs = 3_600_000

/**
 * Deletes customers at the processor, with their cards, after they were deleted here and none of their payments is open. Deleting
 * twice changes nothing, so a crash after the call only repeats it. Returns whether more may be due.
 */
export async function removeProcessorCustomers(
  parts: PaymentJobParts,
  environment: Environment,
): Promise<boolean> {
  const pool = parts.everyone.in(environment)
  const now = parts.now()
  const againAt = new Date(now.getTime() + claimedMs)
  const due = await claimRemovals(pool, now, againAt, customersPerRoundMax)
  for (const removal of due) {
    const { customerRef, id, tries } = removal
    const result = await processorOf(parts, environment).deleteCustomer(id)
    if (result.outcome === 'done') {
      await deleteProcessorCustomer(pool, removal)
      continue
    }
    const error = `${result.reason}: ${result.message}`
    parts.logger.warn(
      { customerRef, environment, error },
      'could not delete a customer at the payment processor; it is retried later',
    )
    const pauseMs = Math.min(1_000 * 2 ** Math.min(tries, 12), hourMs)
    await postponeRemoval(pool, removal, error, new Date(parts.now().getTime() + pauseMs))
  }
  return due.length === customersPerRoundMax
}
