import type { PaymentIntent } from '../payments/payment-intent.ts'
import { lockDebt } from '../purposes/debts.ts'
import { handlerOf } from '../purposes/payment-handlers.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** Runs the handler of a payment that ended without money. `isTooSmall`: the amount is below the processor's minimum. */
export async function endUnpaid(
  work: UnitOfWork,
  intent: PaymentIntent,
  isTooSmall: boolean,
): Promise<void> {
  const payment = { intent, debt: await lockDebt(work, intent) }
  await handlerOf(payment).onFailed(work, { kind: 'payment-ended', ...payment, isTooSmall })
}
