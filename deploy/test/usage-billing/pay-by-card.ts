import { lockInvoice } from '@tollgate/domain/invoices/repository'
import { payInvoice } from '@tollgate/domain/invoices/settle-invoice'
import { insertIntent, updateIntent } from '@tollgate/domain/payments/intents-repository'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { createTestIntent } from '../../../domain/test/test-intent.ts'
import type { UsageShop } from './usage-shop.ts'

/** Pays the invoice with a payment that can be refunded. Returns the reference of the payment. */
export async function payByCard(
  { runner, shop }: UsageShop,
  { reference: purchaseRef, customerRef }: Purchase,
  invoiceRef: string,
  amountMinor: bigint,
): Promise<string> {
  const reference = `txn_${invoiceRef}`
  await runner.within(shop, async (work) => {
    const { sql, providerId, now } = work
    const invoice = await lockInvoice(sql, providerId, invoiceRef)
    const paid = { customerRef, purchaseRef, invoiceRef, originalAmountMinor: amountMinor }
    const intent = createTestIntent(
      { reference, purpose: 'usage_billing', currency: 'USD', amountMinor, ...paid },
      now,
    )
    await insertIntent(sql, providerId, intent)
    const processorPaymentId = `pi_${reference}`
    const succeeded = { ...intent, processorPaymentId, succeededAt: now }
    await updateIntent(sql, providerId, { ...succeeded, status: 'succeeded' })
    await payInvoice(work, invoice!, { chargeRef: reference, amountMinor })
  })
  return reference
}
