import { microsPerUnit } from '@tollgate/schemas/quantity'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import type { TakeBack } from '../payments/take-backs-repository.ts'
import type { HoldCredits, ReleaseCredits } from '../wallet/hold-credits.ts'
import type { CreditRemoval } from '../wallet/remove-credits.ts'

/** Sets credits aside in hot state until they are debited. */
export type HotStateCredits = { readonly hold: HoldCredits; readonly release: ReleaseCredits }

/** Returns the ledger movement of a take-back. The paid value of the credits is posted against refunds or disputes. */
export function movementOf(
  { customerRef, cause, credits, intentRef }: TakeBack,
  kind: 'take_back' | 'give_back',
  key: string,
): Omit<CreditRemoval, 'reason'> {
  return {
    customerRef,
    kind,
    key,
    inputSha256: sha256OfInput([customerRef, credits.toString()]),
    to: 'purchased',
    moneyTo: cause === 'refund' ? 'refunds' : 'disputes',
    result: { payment: intentRef },
  }
}

/** Returns the keys of the take-back's postings: that of the first one, those of later ones, and that of the next one. */
export function takeBackKeys({ reference, retakes }: TakeBack): [string, ...string[]] {
  const later = Array.from({ length: retakes + 1 }, (_, at) => retakeKey(reference, at + 1))
  return [`take-back:${reference}`, ...later]
}

/** Returns the key of a posting after the first one. `number` counts from 1. */
export function retakeKey(reference: string, number: number): string {
  return `take-back-again:${number}:${reference}`
}

/** Returns the credits that a take-back is entitled to and has not found, 10^-6. 0 before the first attempt, and if it is undone. */
export function missingMicros({ credits, takenMicros, isUndone }: TakeBack): bigint {
  return takenMicros === null || isUndone ? 0n : credits * BigInt(microsPerUnit) - takenMicros
}
