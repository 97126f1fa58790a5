import { numberFromMicros } from '@tollgate/schemas/quantity'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { removalsHeldMsMax, type HoldCredits } from '../wallet/hold-credits.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import { lockWallet } from '../wallet/repository.ts'
import { takeHeld } from '../wallet/take-held.ts'

/**
 * Takes all credits that are left out of the wallet of a customer that is deleted: out of the hot state's wallet in one
 * step, and out of the ledger, where what was paid for them becomes breakage. The caller has locked the customer.
 *
 * Killed before the commit, the hold is left, and the next try finds it by its key; killed behind it, the publication.
 */
export async function forfeitCredits(
  work: UnitOfWork,
  customerRef: string,
  holdCredits: HoldCredits,
): Promise<void> {
  const { sql, providerId, now } = work
  const wallet = await lockWallet(sql, providerId, customerRef, now)
  if (wallet.balanceMicros <= 0n) return
  const key = `forfeiture:${customerRef}`
  const held = await holdCredits({ ...work, customerRef }, wallet, {
    key,
    micros: wallet.balanceMicros,
    upToMicros: undefined,
    takes: 'rest',
    heldMs: removalsHeldMsMax,
  })
  if (held.heldMicros === 0n) return
  await takeHeld(work, wallet, held, {
    customerRef,
    kind: 'adjustment',
    key,
    inputSha256: sha256OfInput([customerRef]),
    reason: 'The customer was deleted',
    to: 'breakage',
    moneyTo: 'breakage',
    result: { credits: numberFromMicros(held.heldMicros) },
  })
}
