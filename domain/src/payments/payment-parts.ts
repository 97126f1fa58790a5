import type { ProviderDatabases } from '@tollgate/platform/database/database'
import type { PaymentProcessors } from '@tollgate/platform/payments/open-payment-processors'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import type { Environment } from '@tollgate/schemas/environment'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** What payments are made with. */
export type PaymentParts = {
  readonly database: ProviderDatabases
  readonly processors: Pick<PaymentProcessors, 'of'>
  /** Runs the body in a transaction, and has published what it queued before it resolves. */
  readonly commit: <Result>(
    operation: Operation,
    body: (work: UnitOfWork) => Promise<Result>,
  ) => Promise<Result>
  /** Where customers reach the hosted pages, without a slash at its end. */
  readonly hostedUrl: string
}

/** No processor is configured for the environment: an operator has to. */
export class PaymentsNotConfiguredError extends Error {
  override readonly name = 'PaymentsNotConfiguredError'
}

export function processorOf(
  { processors }: Pick<PaymentParts, 'processors'>,
  environment: Environment,
): PaymentProcessor {
  const processor = processors.of(environment)
  if (processor === undefined) {
    throw new PaymentsNotConfiguredError(`there is no payment processor for ${environment}`)
  }
  return processor
}
