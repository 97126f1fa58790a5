import { drawReference } from '../unit-of-work/draw-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { insertGrant } from './grants.ts'
import { insertTransaction, sha256OfInput } from '../money-ledger/ledger.ts'
import { updateWallet, type Wallet } from './repository.ts'

/**
 * Puts in what usage took beyond the wallet, at nobody's cost but the provider's. Usage takes no more than there is;
 * but a hot state that lost its last moments, as a Redis that fails over may, can have given the same credit out twice.
 * The record says what was taken and stays as it is, and a wallet is never in debt.
 */
export async function writeOff(
  work: UnitOfWork,
  customerRef: string,
  before: Wallet,
  amountMicros: bigint,
): Promise<Wallet> {
  const { sql, providerId, now } = work
  const reference = drawReference('transaction')
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
