import { PaymentProcessorUnavailableError } from '@tollgate/platform/payments/payment-processor'
import type { Environment } from '@tollgate/schemas/environment'
import { readCustomerTime } from '../test-clocks/customer-time.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import type { PaymentJobParts } from './process-inbox.ts'
import { reconcileOperation } from './reconcile-intent.ts'

/** A payment or a refund that is due to be read or sent at the processor. */
export type DueAtProcessor = {
  readonly providerId: string
  readonly customerRef: string
  readonly reference: string
}

type DueKind = {
  /** Claims at most `itemsMax` due items until `againAt`. */
  readonly claim: (now: Date, againAt: Date, itemsMax: number) => Promise<readonly DueAtProcessor[]>
  readonly perform: (operation: Operation, reference: string) => Promise<unknown>
  readonly failureText: string
}

const itemsPerRoundMax = 50

/** How long a claim lasts. After that time, another process claims the items of a dead process. */
const claimedMs = 120_000

/**
 * Claims due items, and performs each at the time of its customer. An item that fails stays claimed, and is due again when the claim
 * has ended. Returns whether more may be due.
 */
export async function continueDue(
  parts: PaymentJobParts,
  environment: Environment,
  { claim, perform, failureText }: DueKind,
): Promise<boolean> {
  if (parts.processors.of(environment) === undefined) return false
  const now = parts.now()
  const due = await claim(now, new Date(now.getTime() + claimedMs), itemsPerRoundMax)
  for (const { reference, ...customer } of due) {
    try {
      const at = await readCustomerTime(parts.database, environment, customer, parts.now())
      await perform(reconcileOperation(customer.providerId, environment, at), reference)
    } catch (error) {
      const level = error instanceof PaymentProcessorUnavailableError ? 'warn' : 'error'
      parts.logger[level]({ err: error, reference }, failureText)
    }
  }
  return due.length === itemsPerRoundMax
}
