import { endNow } from '../purchases/move-purchase.ts'
import { lockPurchase } from '../purchases/repository.ts'
import { canMove } from '../purchases/transitions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findPackAccount, type AccountName } from '../packs/repository.ts'

type Committing = {
  commit<Result>(body: (work: UnitOfWork) => Promise<Result>): Promise<Result>
}

/**
 * Ends the purchases of packs whose units are all used. Each one commits alone, with the purchase locked first as everywhere. After
 * a crash it still shows no units, and the next settlement ends it.
 */
export async function endUsedUpPacks(context: Committing, name: AccountName): Promise<void> {
  const account = await context.commit(({ sql, providerId }) =>
    findPackAccount(sql, providerId, name),
  )
  const usedUp = (account?.packs ?? []).filter((pack) => pack.usedMicros === pack.unitsMicros)
  for (const { purchaseRef } of usedUp) {
    await context.commit(async (work) => {
      const purchase = await lockPurchase(work.sql, work.providerId, purchaseRef)
      if (purchase?.status === 'active' && canMove(purchase, 'expired')) {
        await endNow(work, purchase, 'expired')
      }
    })
  }
}
