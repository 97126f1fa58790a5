import { findProvider } from '../providers/repository.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import { setSellerName } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { PaymentParts } from '../payments/payment-parts.ts'
import { isFinal } from '../payments/transitions.ts'

export type SoldIntent = Pick<PaymentIntent, 'reference' | 'status' | 'invoiceRef' | 'sellerName'>

/**
 * Stores the provider's name on a payment from before payments stored it. The invoice of the payment needs the name and cannot be
 * changed later. It is stored before the payment is checked: providers are not in the environment's database, so the transaction of
 * that check cannot read them.
 */
export async function ensureSellerName(
  parts: Pick<PaymentParts, 'database' | 'commit'>,
  operation: Operation,
  { reference, status, invoiceRef, sellerName }: SoldIntent,
): Promise<void> {
  if (sellerName !== null || invoiceRef !== null || isFinal(status)) return
  const { providerId } = operation
  const provider = await parts.database
    .of(providerId)
    .control.read((sql) => findProvider(sql, providerId))
  if (provider === undefined) throw new Error(`provider ${providerId} is gone`)
  await parts.commit(operation, ({ sql }) =>
    setSellerName(sql, providerId, reference, provider.name),
  )
}
