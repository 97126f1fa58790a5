import { drawReference } from '../unit-of-work/draw-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { putBack, type Burn } from './burn-order.ts'
import { recordCreditEvent } from './credit-event.ts'
import { valueEntries } from './credit-value.ts'
import { renewExpiry } from './expiring-grants.ts'
import { listGrantsNamed, updateGrants } from './grants.ts'
import { insertTransaction } from '../money-ledger/ledger.ts'
import { sayWhatIsInFlight } from './put-in.ts'
import type { HotWallet } from './read-wallet.ts'
import { updateWallet, type Wallet } from './repository.ts'
import type { TakeOut } from './take-out.ts'

/**
 * Puts credits back that `takeOut` had removed: into the same grants, with reversed entries. Credits of grants that have expired
 * since expire again. The caller has locked the wallet and read `hot` just before.
 */
export async function putCreditsBack(
  work: UnitOfWork,
  wallet: Wallet,
  hot: HotWallet | undefined,
  burns: readonly Burn[],
  back: TakeOut,
): Promise<void> {
  const { sql, providerId, now } = work
  const { customerRef } = back
  const amountMicros = burns.reduce((sum, { micros }) => sum + micros, 0n)
  const grantRefs = burns.map(({ grantRef }) => grantRef)
  await sayWhatIsInFlight(work, customerRef, wallet, hot)
  const grants = await listGrantsNamed(sql, providerId, grantRefs)
  const backwards = burns.map(({ grantRef, micros }) => ({ grantRef, micros: -micros }))
  await insertTransaction(sql, providerId, {
    ...back,
    reference: drawReference('transaction'),
    createdAt: now,
    entries: [
      { account: 'wallet', amountMicros },
      { account: back.to, amountMicros: -amountMicros },
      ...valueEntries(grants, backwards, back.moneyTo),
    ],
  })
  await updateGrants(sql, providerId, grants, putBack(grants, burns))
  await renewExpiry(sql, providerId, grantRefs)
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
