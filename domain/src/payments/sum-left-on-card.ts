import type { Queryable } from '@tollgate/platform/database/database'
import { sumLostDisputes } from './disputes-repository.ts'
import type { PaymentIntent } from './payment-intent.ts'
import { sumRefunds } from './refunds-repository.ts'
import { sumOpenRefunds } from './requested-refunds-repository.ts'

/** Returns how much of a payment the processor can still refund. Minor units. */
export async function sumLeftOnCard(
  sql: Queryable,
  providerId: string,
  { reference, originalAmountMinor }: Pick<PaymentIntent, 'reference' | 'originalAmountMinor'>,
): Promise<bigint> {
  const refunded = await sumRefunds(sql, providerId, reference)
  const openMinor = await sumOpenRefunds(sql, providerId, reference)
  const lostMinor = await sumLostDisputes(sql, providerId, reference)
  return originalAmountMinor - refunded.amountMinor - openMinor - lostMinor
}
