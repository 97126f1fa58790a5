import type { ProviderDatabases } from '@tollgate/platform/database/database'
import type { PaymentProcessors } from '@tollgate/platform/payments/open-payment-processors'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import type { TaxRegister } from '@tollgate/platform/tax-register/tax-register'
import type { Environment } from '@tollgate/schemas/environment'
import type { AskOutside } from '../unit-of-work/outside-question.ts'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** Dependencies of the payment functions. */
export type PaymentParts = {
  readonly database: ProviderDatabases
  readonly processors: Pick<PaymentProcessors, 'of'>
  /** Runs the body in a transaction. Resolves after the queued publications have been published. */
  readonly commit: <Result>(
    operation: Operation,
    body: (work: UnitOfWork) => Promise<Result>,
  ) => Promise<Result>
  /** Looks up tax ids. Absent if none is configured. */
  readonly taxRegister?: TaxRegister | undefined
  /** Asks servers of providers, outside of transactions. */
  readonly ask?: AskOutside | undefined
  /** Real time, which the processor has. The time of an operation may be that of a customer's test clock. */
  readonly now: () => Date
  /** Base URL of the hosted pages, without a trailing slash. */
  readonly hostedUrl: string
}

/** No payment processor is configured for the environment. An operator has to configure one. */
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

/** The outcome of a call to the processor is unknown. The caller repeats the same call. */
export class PaymentUnknownError extends Error {
  override readonly name = 'PaymentUnknownError'
}
