import { sumCreditedToBalance } from '../invoices/credit-notes.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { readCharged } from '../invoices/is-returned.ts'
import { sumTakenFromBalance } from '../money-ledger/ledger.ts'
import { partFromBalance } from '../payments/part-from-balance.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/**
 * Returns the part of returned money, refunded or withdrawn by a bank, whose amount the customer's balance has got before: by a credit
 * note of the invoice, or by a later bill that credits its usage. Without this, the customer would have it twice. The next invoice
 * charges what the customer has used of that credit meanwhile.
 */
export async function decideFromBalance(
  { sql, providerId }: UnitOfWork,
  invoice: Invoice,
  amountMinor: bigint,
): Promise<bigint> {
  const { reference, paidMinor, refundedMinor } = invoice
  const charged = await readCharged(sql, providerId, invoice)
  const { chargedMinor, creditedMinor, laterMinor, returnedMinor } = charged
  const toBalanceMinor = (await sumCreditedToBalance(sql, providerId, reference)) + laterMinor
  if (toBalanceMinor === 0n) return 0n
  return partFromBalance(amountMinor, {
    keptMinor: paidMinor - refundedMinor,
    creditableMinor: chargedMinor - creditedMinor - returnedMinor,
    toBalanceMinor,
    takenMinor: await sumTakenFromBalance(sql, providerId, reference),
  })
}
