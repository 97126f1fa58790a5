import { addCarried } from '../invoices/carried-amounts.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { balancePayoutReturned } from '../money-ledger/balance-postings.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import type { RequestedRefund } from '../payments/requested-refunds-repository.ts'
import { unixSeconds } from '../periods/periods.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/**
 * Returns the amount of a refund that was refused or failed to the balance that it was to pay out, and emits the event that tells the
 * provider, who pays it by other means. This also holds for a deleted customer. Does nothing a second time.
 */
export async function returnPayout(
  work: UnitOfWork,
  { reference, payoutRef, amountMinor, currency }: RequestedRefund,
  { reference: invoiceRef, customerRef }: Pick<Invoice, 'reference' | 'customerRef'>,
  reason: string,
): Promise<void> {
  const paid = {
    reference,
    invoiceRef,
    customerRef,
    currency,
    amountMinor,
    from: 'refunds',
  } as const
  if ((await postMoney(work, balancePayoutReturned(paid))) !== 'posted') return
  await addCarried(work.sql, work.providerId, { customerRef, currency }, -amountMinor, work.now)
  await recordEvent(work, 'customer.balance.payout_failed', {
    ...{ customer: customerRef, payout: payoutRef ?? '', refund: reference, reason },
    ...{ amount: Number(amountMinor), currency: currency.toLowerCase() },
    created: unixSeconds(work.now),
  })
}
