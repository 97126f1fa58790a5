import { numberFromMicros } from '@tollgate/schemas/quantity'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'

export type CreditMovement = {
  readonly customerRef: string
  /** Balance in the ledger after the movement, 10^-6 credits. */
  readonly balanceMicros: bigint
  /** Amount in 10^-6 credits; negative for a debit. */
  readonly amountMicros: bigint
  readonly productRef: string | null
}

export type CreditEvent =
  'granted' | 'topped_up' | 'adjusted' | 'debited' | 'low_balance' | 'exhausted'

export async function recordCreditEvent(
  work: UnitOfWork,
  event: CreditEvent,
  { customerRef, balanceMicros, amountMicros, productRef }: CreditMovement,
): Promise<void> {
  await recordEvent(work, `customer.credit.${event}`, {
    customerId: customerRef,
    providerId: work.providerId,
    credits: numberFromMicros(balanceMicros),
    amount: numberFromMicros(amountMicros),
    productRef,
  })
}
