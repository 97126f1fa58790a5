import type { ClockName } from '@tollgate/domain/calendar/clock-items'
import { listIntentsDueOfClock } from '@tollgate/domain/payments/intents-repository'
import { reconcileIntent, reconcileOperation } from '@tollgate/domain/settlement/reconcile-intent'
import type { PaymentJobParts } from '@tollgate/domain/settlement/process-inbox'
import { PaymentProcessorUnavailableError } from '@tollgate/platform/payments/payment-processor'

/** Settles what waits at the payment processor for customers of the clock, at the time of the clock. */
export type SettlePayments = (clock: ClockName, now: Date) => Promise<void>

/** A payment is due again after a step, for example after its cancellation was sent. */
const roundsMax = 10

/**
 * Creates the function that makes the due calls of payments before a clock moves on, such as cancellations of payments that are no
 * longer wanted. In real time the control plane makes them a moment later. For a clock that moves it would be a month later.
 */
export function createSettlePayments(parts: PaymentJobParts): SettlePayments {
  const environment = 'sandbox'
  return async (clock, now) => {
    if (parts.processors.of(environment) === undefined) return
    const pool = parts.everyone.in(environment)
    const operation = reconcileOperation(clock.providerId, environment, now)
    for (let round = 0; round < roundsMax; round += 1) {
      const due = await listIntentsDueOfClock(pool, clock)
      if (due.length === 0) return
      for (const reference of due) {
        try {
          await reconcileIntent(parts, operation, reference)
        } catch (error) {
          if (!(error instanceof PaymentProcessorUnavailableError)) throw error
          // The control plane checks the payment again when the clock stands still.
          parts.logger.warn({ err: error, reference }, 'a payment of a clock is checked later')
          return
        }
      }
    }
  }
}
