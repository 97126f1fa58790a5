import type { TransactionSql } from 'postgres'
import type { Environment } from '@tollgate/schemas/environment'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { jobActor, nameActor } from '../audit/actor.ts'
import { selectNames } from '../customers/repository.ts'
import type { PublicationTarget } from '../publications/repository.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { listReceivingProviders } from '../webhooks/receiving-providers.ts'
import { recordCreditEvent } from './credit-event.ts'
import { crossingsOf } from './crossings.ts'
import { allocateBurn, burn } from './burn-order.ts'
import { insertBurns } from './burns.ts'
import { valueEntries } from './credit-value.ts'
import { listGrantsLeft, updateGrants } from './grants.ts'
import { insertTransaction, sha256OfInput } from '../money-ledger/ledger.ts'
import { WarningLevels } from './warning-levels.ts'
import { lockWallet, updateWallet } from './repository.ts'
import { writeOff } from './write-off.ts'

const poster = jobActor('post-debits')

/** What a wallet paid for one usage record. */
export type StoredDebit = {
  readonly providerId: string
  readonly customerRef: string
  readonly productRef: string
  /** 10^-6 credits, more than nothing. */
  readonly micros: bigint
}

/** Debits of one partition of the log: all of them from one offset up to another. */
export type DebitBatch = {
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
  /** In the order of the log. */
  readonly debits: readonly StoredDebit[]
}

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

/** From where on debits of the partition are to be posted. */
export async function readDebitPosition(sql: TransactionSql, partition: number): Promise<number> {
  await sql`
    insert into debit_positions (log_partition, next_offset) values (${partition}, 0)
    on conflict do nothing`
  const [row] = await sql<{ next_offset: bigint }[]>`
    select next_offset from debit_positions where log_partition = ${partition} for update`
  return Number(row!.next_offset)
}

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
  const known = await findCustomers(sql, batch.debits)
  const isKnown = ({ providerId, customerRef }: StoredDebit): boolean =>
    known.has(JSON.stringify([providerId, customerRef]))
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
  await sql`
    update debit_positions set next_offset = ${batch.toOffset}
    where log_partition = ${batch.partition}`
  const strangers = batch.debits.filter((debit) => !isKnown(debit))
  return { kind: 'posted', publications, strangers }
}

/**
 * Those that are there, under their names. They are locked as the postings' keys will lock them: customers always come
 * before their wallets.
 */
async function findCustomers(
  sql: TransactionSql,
  debits: readonly StoredDebit[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ provider_id: string; reference: string }[]>`
    select provider_id, reference from customers
    where (provider_id, reference) in (${selectNames(sql, debits)})
    order by provider_id, reference for key share`
  return new Set(rows.map((row) => JSON.stringify([row.provider_id, row.reference])))
}

type WalletDebits = {
  readonly providerId: string
  readonly customerRef: string
  /** Sums, by product. */
  readonly byProduct: Map<string, bigint>
}

function walletsOf(debits: readonly StoredDebit[]): WalletDebits[] {
  const wallets = new Map<string, WalletDebits>()
  for (const { providerId, customerRef, productRef, micros } of debits) {
    const key = JSON.stringify([providerId, customerRef])
    const wallet = wallets.get(key) ?? {
      providerId,
      customerRef,
      byProduct: new Map<string, bigint>(),
    }
    wallets.set(key, wallet)
    wallet.byProduct.set(productRef, (wallet.byProduct.get(productRef) ?? 0n) + micros)
  }
  return [...wallets].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each)
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
  let before = balanceMicros
  for (const [productRef, micros] of byProduct) {
    const after = before > micros ? before - micros : 0n
    const warningMicros = await warnings.read(work, customerRef, productRef)
    const crossings = crossingsOf(before, after, warningMicros)
    const debited = receivers.has(work.providerId) ? (['debited'] as const) : []
    for (const event of [...debited, ...crossings]) {
      await recordCreditEvent(work, event, {
        customerRef,
        balanceMicros: after,
        amountMicros: -micros,
        productRef,
      })
    }
    before = after
  }
}
