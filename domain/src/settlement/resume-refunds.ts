import type { Environment } from '@tollgate/schemas/environment'
import { claimDueRefunds } from '../payments/requested-refunds-repository.ts'
import { continueDue } from './continue-due.ts'
import type { PaymentJobParts } from './process-inbox.ts'
import { sendRefund } from './send-refund.ts'

/** Continues requested refunds whose process died, or whose call had an unknown outcome. Returns whether more may be due. */
export function resumeRefunds(parts: PaymentJobParts, environment: Environment): Promise<boolean> {
  const pool = parts.everyone.in(environment)
  return continueDue(parts, environment, {
    claim: (...limits) => claimDueRefunds(pool, ...limits),
    perform: (operation, reference) => sendRefund(parts, operation, reference),
    failureText: 'could not continue a requested refund; it is continued later',
  })
}
