import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { takingsOf } from '../payments/decide-dispute.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import {
  insertClaim,
  listClaims,
  markUndone,
  type ClaimInForce,
  type TakeBack,
} from '../payments/take-backs-repository.ts'
import type { SeenDispute, SettledRefund } from './payment-handler.ts'

/** Claims the credits that the refunded part of the payment had bought, or gives them back if the refund failed late. */
export async function claimRefunded(
  work: UnitOfWork,
  intent: PaymentIntent,
  { id: reference, amountMinor, isReturned }: SettledRefund,
): Promise<void> {
  if (isReturned) await undoClaim(work, intent, reference)
  else await claimCredits(work, intent, { reference, cause: 'refund', amountMinor })
}

/** Claims the credits that the disputed money had bought, for as long as it is away. */
export async function claimDisputed(
  work: UnitOfWork,
  intent: PaymentIntent,
  { id, amountMinor, movements }: SeenDispute,
): Promise<void> {
  const { times, isTaken } = takingsOf(movements)
  // Each time is a claim of its own. All but the last came back, also where no look was had in between.
  for (let time = 1; time <= times; time += 1) {
    const reference = time > 1 ? `${id}:${time}` : id
    await claimCredits(work, intent, { reference, cause: 'dispute', amountMinor })
    if (time < times || !isTaken) await undoClaim(work, intent, reference)
  }
}

/**
 * Writes down that credits are to be taken back which were bought with money that was paid back: as many as its part of
 * the payment, rounded down for all that was paid back by now. A job takes them, as that needs the hot state. The caller
 * has locked the payment. Claimed before, it stays as it is.
 */
async function claimCredits(
  { sql, providerId, now }: UnitOfWork,
  intent: PaymentIntent,
  { reference, cause, amountMinor }: Pick<TakeBack, 'reference' | 'cause' | 'amountMinor'>,
): Promise<void> {
  const { reference: intentRef, customerRef } = intent
  // Without a purchase nothing was given.
  if (intent.credits === null || intent.purchaseRef === null) return
  const others = await listClaims(sql, providerId, intentRef, reference)
  const upTo = creditsOf(intent, sumOf(others, 'amountMinor') + amountMinor)
  const before = sumOf(others, 'credits')
  const credits = upTo > before ? upTo - before : 0n
  const claim = { reference, cause, intentRef, customerRef, amountMinor, credits }
  await insertClaim(sql, providerId, claim, now)
}

/**
 * The money has come back: so are the credits to. What it had claimed alone, and others have a right to as well, is
 * claimed for these anew: they came second, and found less left of the payment than was paid back by them.
 */
async function undoClaim(
  { sql, providerId, now }: UnitOfWork,
  intent: PaymentIntent,
  reference: string,
): Promise<void> {
  const { reference: intentRef, customerRef } = intent
  if (!(await markUndone(sql, providerId, reference, now))) return
  const inForce = await listClaims(sql, providerId, intentRef, reference)
  const owed = creditsOf(intent, sumOf(inForce, 'amountMinor'))
  const isTooMuch = sumOf(inForce, 'credits') > owed
  const given = inForce.filter(({ amountMinor }) => isTooMuch && amountMinor === 0n)
  for (const each of given) await markUndone(sql, providerId, each.reference, now)
  const left = inForce.filter((each) => !given.includes(each))
  const credits = owed - sumOf(left, 'credits')
  if (credits <= 0n) return
  const cause = left.some((each) => each.cause === 'dispute') ? 'dispute' : 'refund'
  const rest = { reference: `${reference}:others`, cause, amountMinor: 0n, credits } as const
  await insertClaim(sql, providerId, { ...rest, intentRef, customerRef }, now)
}

/** What so much of the payment had bought, whole credits. */
function creditsOf({ credits, originalAmountMinor }: PaymentIntent, amountMinor: bigint): bigint {
  const partMinor = amountMinor < originalAmountMinor ? amountMinor : originalAmountMinor
  return ((credits ?? 0n) * partMinor) / originalAmountMinor
}

function sumOf(claims: readonly ClaimInForce[], of: 'amountMinor' | 'credits'): bigint {
  return claims.reduce((sum, claim) => sum + claim[of], 0n)
}
