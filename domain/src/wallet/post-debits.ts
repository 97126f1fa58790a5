import type { TransactionSql } from 'postgres'
import type { Environment } from '@tollgate/schemas/environment'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { jobActor, nameActor } from '../audit/actor.ts'
import type { PublicationTarget } from '../publications/repository.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { listReceivingProviders } from '../webhooks/receiving-providers.ts'
import { recordCreditEvent } from './credit-event.ts'
import { crossingsOf } from './crossings.ts'
import { allocateBurn, burn } from './burn-order.ts'
import { insertBurns } from './burns.ts'
import { valueEntries } from './credit-value.ts'
import { holdCustomers, moveDebitPosition, nameKey, readDebitPosition } from './debit-positions.ts'
import {
  stepsOf,
  walletsOf,
  type DebitBatch,
  type StoredDebit,
  type WalletDebits,
} from './debits.ts'
import { listGrantsLeft, updateGrants } from './grants.ts'
import { insertTransaction, sha256OfInput } from '../money-ledger/ledger.ts'
import { WarningLevels } from './warning-levels.ts'
import { lockWallet, updateWallet } from './repository.ts'
import { writeOff } from './write-off.ts'

const poster = jobActor('post-debits')

export type PostOutcome =
  | {
      readonly kind: 'posted'
      /** To be published once the transaction has committed. */
      readonly publications: readonly PublicationTarget[]
      /** Debits of customers that the database does not know: it was set back to an earlier moment. */
      readonly strangers: readonly StoredDebit[]
    }
  /** Somebody else has posted them, and nothing was changed. */
  | { readonly kind: 'elsewhere' }

/**
 * Posts what wallets paid: for each wallet one transaction of the ledger, the events of it, and the position behind it,
 * all in the transaction that is given. So each debit is posted once, whoever dies when, and of two processes with the
 * same batch the second one finds the position elsewhere.
 *
 * Wallets are locked in one order, so that two batches cannot wait for each other: their statements are sent side by
 * side, and the server carries them out as they come. A debit that cannot be posted is told of and passed over, as it
 * would otherwise hold up all that come after it.
 */
export async function postDebits(
  sql: TransactionSql,
  environment: Environment,
  batch: DebitBatch,
  now: Date,
): Promise<PostOutcome> {
  nameActor(sql, poster)
  const position = await readDebitPosition(sql, batch.partition)
  if (position !== batch.fromOffset) return { kind: 'elsewhere' }
  const known = await holdCustomers(sql, batch.debits)
  const isKnown = (debit: StoredDebit): boolean => known.has(nameKey(debit))
  const publications: PublicationTarget[] = []
  const telling = {
    warnings: new WarningLevels(),
    receivers: await listReceivingProviders(sql, 'customer.credit.debited'),
  }
  await Promise.all(
    walletsOf(batch.debits.filter(isKnown)).map(async (wallet) => {
      const { providerId } = wallet
      const by = { actor: poster, requestId: null, idempotencyKey: null }
      const work = { providerId, environment, now, ...by, sql, publications }
      await postWallet(work, batch, wallet, telling)
    }),
  )
  await moveDebitPosition(sql, batch.partition, batch.toOffset)
  const strangers = batch.debits.filter((debit) => !isKnown(debit))
  return { kind: 'posted', publications, strangers }
}

type Telling = {
  readonly warnings: WarningLevels
  /** Providers that are told of each debit. */
  readonly receivers: ReadonlySet<string>
}

async function postWallet(
  work: UnitOfWork,
  { partition, fromOffset, toOffset }: DebitBatch,
  { customerRef, byProduct }: WalletDebits,
  telling: Telling,
): Promise<void> {
  const { sql, providerId, now } = work
  const before = await lockWallet(sql, providerId, customerRef, now)
  let wallet = before
  const amountMicros = [...byProduct.values()].reduce((sum, micros) => sum + micros, 0n)
  if (amountMicros > wallet.balanceMicros) {
    wallet = await writeOff(work, customerRef, wallet, amountMicros - wallet.balanceMicros)
  }
  const grants = await listGrantsLeft(sql, providerId, customerRef)
  const burns = allocateBurn(grants, amountMicros)
  const reference = drawReference('transaction')
  await insertTransaction(sql, providerId, {
    reference,
    kind: 'usage',
    // The position keeps it from being posted twice, and another log may come to the same offsets.
    key: `usage:${reference}`,
    inputSha256: sha256OfInput([customerRef, amountMicros.toString()]),
    customerRef,
    reason: null,
    result: { credits: numberFromMicros(amountMicros), partition, fromOffset, toOffset },
    createdAt: now,
    entries: [
      { account: 'wallet', amountMicros: -amountMicros },
      { account: 'used', amountMicros },
      ...valueEntries(grants, burns, 'revenue'),
    ],
  })
  await updateGrants(sql, providerId, grants, burn(grants, burns))
  await insertBurns(sql, providerId, reference, burns)
  const balanceMicros = wallet.balanceMicros - amountMicros
  await updateWallet(sql, providerId, customerRef, { ...wallet, balanceMicros }, now)
  await tell(work, customerRef, before.balanceMicros, byProduct, telling)
}

/**
 * One event for each line that was crossed, and one for what each product took since the last posting: that one only where
 * an endpoint receives it, as there are nearly as many as there are customers at every moment. What was taken beyond the
 * balance and written off crosses no line: it was never there.
 */
async function tell(
  work: UnitOfWork,
  customerRef: string,
  balanceMicros: bigint,
  byProduct: ReadonlyMap<string, bigint>,
  { warnings, receivers }: Telling,
): Promise<void> {
  for (const step of stepsOf(balanceMicros, byProduct)) {
    const { productRef, micros, beforeMicros, afterMicros } = step
    const warningMicros = await warnings.read(work, customerRef, productRef)
    const crossings = crossingsOf(beforeMicros, afterMicros, warningMicros)
    const debited = receivers.has(work.providerId) ? (['debited'] as const) : []
    for (const event of [...debited, ...crossings]) {
      await recordCreditEvent(work, event, {
        customerRef,
        balanceMicros: afterMicros,
        amountMicros: -micros,
        productRef,
      })
    }
  }
}
