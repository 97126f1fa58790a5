import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PaymentIntent } from './payment-intent.ts'
import { insertClaim, sumClaims, type TakeBack } from './take-backs-repository.ts'

/**
 * Writes down that credits are to be taken back which were bought with money that was paid back: as many as its part of
 * the payment, rounded down for all that was paid back by now. A job takes them, as that needs the hot state. The caller
 * has locked the payment. Claimed before, it stays as it is.
 */
export async function claimCredits(
  { sql, providerId, now }: UnitOfWork,
  intent: PaymentIntent,
  { reference, cause, amountMinor }: Pick<TakeBack, 'reference' | 'cause' | 'amountMinor'>,
): Promise<void> {
  const { reference: intentRef, customerRef, credits: bought, originalAmountMinor } = intent
  // Without a purchase nothing was given.
  if (bought === null || intent.purchaseRef === null) return
  const before = await sumClaims(sql, providerId, intentRef, reference)
  const backMinor = before.amountMinor + amountMinor
  const partMinor = backMinor < originalAmountMinor ? backMinor : originalAmountMinor
  const upTo = (bought * partMinor) / originalAmountMinor
  const credits = upTo > before.credits ? upTo - before.credits : 0n
  const claim = { reference, cause, intentRef, customerRef, amountMinor, credits }
  await insertClaim(sql, providerId, claim, now)
}
