import type { Environment } from '@tollgate/schemas/environment'
import { claimIntentsToPoll } from '../payments/intents-repository.ts'
import { continueDue } from './continue-due.ts'
import type { PaymentJobParts } from './process-inbox.ts'
import { reconcileIntent } from './reconcile-intent.ts'

/** Checks payments that are not final at the processor, in case a webhook was lost. Returns whether more may be due. */
export function reconcilePayments(
  parts: PaymentJobParts,
  environment: Environment,
): Promise<boolean> {
  const pool = parts.everyone.in(environment)
  return continueDue(parts, environment, {
    claim: (...limits) => claimIntentsToPoll(pool, ...limits),
    perform: (operation, reference) => reconcileIntent(parts, operation, reference),
    failureText: 'could not reconcile a payment; it is polled again later',
  })
}
