import { isReferenceOfDeleted, lockCustomer } from '../customers/repository.ts'
import { addCarried, lockCarried } from '../invoices/carried-amounts.ts'
import { balancePaidOut } from '../money-ledger/balance-postings.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import { lockRefundablePayments } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { insertRequestedRefund } from '../payments/requested-refunds-repository.ts'
import { sumLeftOnCard } from '../payments/sum-left-on-card.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findPayoutOfKey, insertPayout, type BalancePayout } from './payouts-repository.ts'
import { isDisputed } from './is-disputed.ts'
import { splitPayout, type PayoutPart } from './split-payout.ts'
import { findRepeated } from './find-repeated.ts'

export type PayoutRequest = Pick<
  BalancePayout,
  'customerRef' | 'currency' | 'goesTo' | 'reason'
> & {
  /** Minor units. Without it, all that can be paid out. */
  readonly amountMinor?: bigint | undefined
}

export type PayoutOutcome =
  | { readonly kind: 'paid-out'; readonly payout: BalancePayout }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'key-reused' }
  /** More than the customer's credit, or than the cards of past payments can take in steps of the processor. */
  | { readonly kind: 'amount'; readonly leftMinor: bigint }

/** Maximum number of past payments, the newest first, to whose cards the balance is paid out. */
const paymentsMax = 100

/**
 * Pays out the credit of a customer's balance: as refunds of past card payments, up to what these took, or as a record that the provider
 * has paid it by other means. The balance is reduced here, so no invoice uses the same credit. The caller makes the calls of the refunds
 * after the commit, and a job makes them if the caller dies before. What a refund does not pay is returned to the balance.
 */
export async function payOutBalance(
  work: UnitOfWork,
  request: PayoutRequest,
): Promise<PayoutOutcome> {
  const { sql, providerId, idempotencyKey, now } = work
  const { customerRef, currency, goesTo, reason } = request
  const of = { customerRef, currency }
  // Payments are locked before the customer, in the order in which all code locks them.
  const payments =
    goesTo === 'card' ? await lockRefundablePayments(sql, providerId, of, paymentsMax) : []
  // A deleted customer keeps the credit, and nothing else changes it.
  const isKnown =
    (await lockCustomer(sql, providerId, customerRef)) !== undefined ||
    (await isReferenceOfDeleted(sql, providerId, customerRef))
  if (!isKnown) return { kind: 'not-found' }
  const texts = [customerRef, currency, goesTo, reason, String(request.amountMinor)]
  const inputSha256 = sha256OfInput(texts)
  const before = await findRepeated(work, inputSha256, (key) =>
    findPayoutOfKey(sql, providerId, key),
  )
  if (before === 'key-reused') return { kind: 'key-reused' }
  if (before !== undefined) return { kind: 'paid-out', payout: before.payout }
  const creditMinor = -(await lockCarried(sql, providerId, of))
  const split = splitPayout({
    ...{ creditMinor, currency, goesTo, wantedMinor: request.amountMinor },
    payments: await readParts(work, payments),
  })
  if (split.kind === 'amount') return split
  const { amountMinor } = split
  const reference = generateReference('payout')
  const payout = {
    reference,
    ...of,
    amountMinor,
    goesTo,
    reason,
    decidedBy: work.actor.name,
    createdAt: now,
  }
  await insertPayout(sql, providerId, payout, { idempotencyKey, inputSha256 })
  await addCarried(sql, providerId, of, amountMinor, now)
  if (goesTo === 'other') {
    await postMoney(work, balancePaidOut({ reference, ...of, amountMinor, from: 'outside' }))
  }
  for (const part of split.parts) await requestRefund(work, payout, part)
  return { kind: 'paid-out', payout }
}

/** Returns what each payment can still return, in the order of the payments. Disputed money is left out. */
async function readParts(
  work: UnitOfWork,
  payments: readonly PaymentIntent[],
): Promise<PayoutPart[]> {
  const parts: PayoutPart[] = []
  for (const payment of payments) {
    const { reference: intentRef, invoiceRef } = payment
    if (invoiceRef === null || (await isDisputed(work, invoiceRef))) continue
    const amountMinor = await sumLeftOnCard(work.sql, work.providerId, payment)
    if (amountMinor > 0n) parts.push({ intentRef, invoiceRef, amountMinor })
  }
  return parts
}

async function requestRefund(
  work: UnitOfWork,
  { reference: payoutRef, customerRef, currency }: BalancePayout,
  { intentRef, invoiceRef, amountMinor }: PayoutPart,
): Promise<void> {
  const { sql, providerId, now } = work
  const reference = generateReference('refund')
  const refund = { reference, invoiceRef: null, payoutRef, intentRef, amountMinor, currency }
  await insertRequestedRefund(sql, providerId, { ...refund, goesTo: 'card' }, now)
  const paid = {
    reference,
    invoiceRef,
    customerRef,
    currency,
    amountMinor,
    from: 'refunds',
  } as const
  await postMoney(work, balancePaidOut(paid))
}
