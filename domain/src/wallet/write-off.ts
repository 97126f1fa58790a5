import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { insertGrant } from './grants.ts'
import { insertTransaction, sha256OfInput } from '../money-ledger/ledger.ts'
import { updateWallet, type Wallet } from './repository.ts'

/**
 * Adds the credits that usage took beyond the wallet's balance, at the provider's expense. Usage normally takes no more than the
 * balance. But hot state that lost its last writes, for example in a failover of Redis, may have spent the same credit twice. The
 * record states what was taken and stays unchanged, and a wallet is never negative.
 */
export async function writeOff(
  work: UnitOfWork,
  customerRef: string,
  before: Wallet,
  amountMicros: bigint,
): Promise<Wallet> {
  const { sql, providerId, now } = work
  const reference = generateReference('transaction')
  await insertTransaction(sql, providerId, {
    reference,
    kind: 'write_off',
    key: `write-off:${reference}`,
    inputSha256: sha256OfInput([customerRef, amountMicros.toString()]),
    customerRef,
    reason: 'usage took more than the wallet held',
    result: {},
    createdAt: now,
    entries: [
      { account: 'wallet', amountMicros },
      { account: 'written_off', amountMicros: -amountMicros },
    ],
  })
  const wallet = {
    ...before,
    grantedMicros: before.grantedMicros + amountMicros,
    balanceMicros: before.balanceMicros + amountMicros,
  }
  await updateWallet(sql, providerId, customerRef, wallet, now)
  await insertGrant(sql, providerId, customerRef, {
    reference,
    remainingMicros: amountMicros,
    priority: 0,
    expiresAt: null,
    paid: null,
    createdAt: now,
  })
  await queuePublication(work, 'customer', customerRef)
  return wallet
}
