import type { Uncharged } from '@tollgate/domain/closing/bill-now'
import type { OpenAmounts } from '@tollgate/domain/closing/open-amounts'
import { wholeCredits } from '@tollgate/domain/money/whole-credits'
import type {
  CustomerNotChargedBody,
  CustomerNotSettledBody,
} from '@tollgate/schemas/http/customers'

export function openAmountsToHttp({
  amounts,
  invoiceRefs,
  boughtMicros,
}: OpenAmounts): CustomerNotSettledBody['open'] {
  return {
    amounts: amounts.map((amount) => ({
      currency: amount.currency,
      openInvoices: Number(amount.openInvoicesMinor),
      carried: Number(amount.carriedMinor),
      unbilledUsage: Number(amount.unbilledUsageMinor),
      boughtCredits: Number(amount.boughtCreditsMinor),
    })),
    invoices: [...invoiceRefs],
    boughtCredits: wholeCredits(boughtMicros),
  }
}

export function unchargedToHttp(
  uncharged: readonly Uncharged[],
): CustomerNotChargedBody['uncharged'] {
  return uncharged.map(({ invoiceRef, amountMinor, currency, reason }) => ({
    ...(invoiceRef === null ? {} : { invoiceRef }),
    amount: Number(amountMinor),
    currency,
    reason,
  }))
}
