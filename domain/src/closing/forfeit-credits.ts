import { numberFromMicros } from '@tollgate/schemas/quantity'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { removalsHeldMsMax, type HoldCredits } from '../wallet/hold-credits.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import { lockWallet } from '../wallet/repository.ts'
import { removeHeldCredits } from '../wallet/remove-credits.ts'

/**
 * Removes all remaining credits from the wallet of a customer who is being deleted: from the hot state in one step, and
 * from the ledger, where the money that was paid for them becomes breakage. The caller has locked the customer.
 *
 * After a crash before the commit, the hold remains in the hot state and the next attempt finds it by its key. After a
 * crash behind the commit, the ledger is complete and the wallet's publication remains to be done.
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
  await removeHeldCredits(work, wallet, held, {
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
