import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { restoreToGrants, type Burn } from './burn-order.ts'
import { recordCreditEvent } from './credit-event.ts'
import { valueEntries } from './credit-value.ts'
import { rescheduleExpiry } from './expiring-grants.ts'
import { listGrants, updateGrants } from './grants.ts'
import { retryShortTakeBacks } from '../payments/take-backs-repository.ts'
import { insertTransaction } from '../money-ledger/ledger.ts'
import { storeInFlight } from './add-credits.ts'
import type { HotWallet } from './read-wallet.ts'
import { updateWallet, type Wallet } from './repository.ts'
import type { CreditRemoval } from './remove-credits.ts'

/**
 * Puts credits back that `removeCredits` had removed: into the same grants, with reversed entries. Credits of grants that have expired
 * since expire again, and take-backs that found too few credits are tried again. The caller has locked the wallet and read `hot` just
 * before.
 */
export async function restoreCredits(
  work: UnitOfWork,
  wallet: Wallet,
  hot: HotWallet | undefined,
  burns: readonly Burn[],
  removal: CreditRemoval,
): Promise<void> {
  const { sql, providerId, now } = work
  const { customerRef } = removal
  const amountMicros = burns.reduce((sum, { micros }) => sum + micros, 0n)
  const grantRefs = burns.map(({ grantRef }) => grantRef)
  await storeInFlight(work, customerRef, wallet, hot)
  const grants = await listGrants(sql, providerId, grantRefs)
  const restored = burns.map(({ grantRef, micros }) => ({ grantRef, micros: -micros }))
  await insertTransaction(sql, providerId, {
    ...removal,
    reference: generateReference('transaction'),
    createdAt: now,
    entries: [
      { account: 'wallet', amountMicros },
      { account: removal.to, amountMicros: -amountMicros },
      ...valueEntries(grants, restored, removal.moneyTo),
    ],
  })
  await updateGrants(sql, providerId, grants, restoreToGrants(grants, burns))
  await rescheduleExpiry(sql, providerId, grantRefs)
  await retryShortTakeBacks(sql, providerId, customerRef, now)
  const after = {
    ...wallet,
    grantedMicros: wallet.grantedMicros + amountMicros,
    balanceMicros: wallet.balanceMicros + amountMicros,
  }
  await updateWallet(sql, providerId, customerRef, after, now)
  const { balanceMicros } = after
  const movement = { customerRef, balanceMicros, amountMicros, productRef: null }
  await recordCreditEvent(work, 'adjusted', movement)
  await queuePublication(work, 'customer', customerRef)
}
