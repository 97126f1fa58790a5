import { createSavedCardCharger } from '@tollgate/domain/charging/charge-saved-card'
import type { BillNowParts } from '@tollgate/domain/closing/bill-now'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import type { Environment } from '@tollgate/schemas/environment'

/** Returns the parts with which a request charges the saved card of a customer. */
export function billNowPartsOf(payments: PaymentParts, environment: Environment): BillNowParts {
  const isCharging = payments.processors.of(environment) !== undefined
  const charge = isCharging ? createSavedCardCharger(payments) : undefined
  return { database: payments.database, commit: payments.commit, charge }
}
