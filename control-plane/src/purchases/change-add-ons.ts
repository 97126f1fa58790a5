import {
  changeAddOns,
  type AddOnRequest,
  type ChangeAddOnsOutcome,
} from '@tollgate/domain/billing/change-add-ons'
import { chargeNow } from '@tollgate/domain/closing/bill-now'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import { listPurchases, type Purchase } from '@tollgate/domain/purchases/repository'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import { commit, type ChangeParts } from '../access/commit.ts'
import { read } from '../access/read.ts'
import { requireProvider } from '../access/require.ts'
import { billNowPartsOf } from '../access/bill-now-parts.ts'

export type AddOnParts = ChangeParts & { readonly payments: PaymentParts }

export type ChargedAddOns =
  | Exclude<ChangeAddOnsOutcome, { kind: 'changed' }>
  | {
      readonly kind: 'changed'
      readonly purchase: Purchase
      readonly effectiveAt: Date
      /** The invoice of the change. Undefined if it costs nothing now. */
      readonly invoiceRef: string | undefined
      readonly isPaid: boolean
    }

/**
 * Changes an add-on of a purchase, and charges the invoice of the change to the saved card. The change commits first: after a crash
 * before the charge, the billing runner charges the open invoice. The billing runner also repeats a declined charge on the schedule of
 * renewals, and makes the purchase past due. A request and the billing runner never both charge an invoice.
 */
export async function changeAndCharge(
  parts: AddOnParts,
  operation: Operation,
  wanted: AddOnRequest,
): Promise<ChargedAddOns> {
  const { name } = await requireProvider(parts, operation)
  const outcome = await commit(parts, operation, (work) => changeAddOns(work, wanted, { name }))
  if (outcome.kind !== 'changed') return outcome
  const { effectiveAt, invoice, purchase } = outcome
  if (invoice === undefined) {
    return { kind: 'changed', purchase, effectiveAt, invoiceRef: undefined, isPaid: false }
  }
  const charging = billNowPartsOf(parts.payments, operation.environment)
  const isDue = invoice.status === 'open' && dueMinor(invoice) > 0n
  const isPaid = !isDue || (await chargeNow(charging, operation, invoice)) === undefined
  return {
    ...{ kind: 'changed', effectiveAt, isPaid, invoiceRef: invoice.reference },
    purchase: await readPurchase(parts, operation, purchase),
  }
}

/** Reads the purchase after its invoice was charged, because the payment may have changed it. */
async function readPurchase(
  parts: AddOnParts,
  operation: Operation,
  purchase: Purchase,
): Promise<Purchase> {
  const { providerId } = operation
  const { reference } = purchase
  const [charged] = await read(parts, operation, (sql) =>
    listPurchases(sql, providerId, { reference, rowsMax: 1 }),
  )
  return charged ?? purchase
}
