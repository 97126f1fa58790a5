import { numberFromMicros } from '@tollgate/schemas/quantity'
import type { Queryable } from '@tollgate/platform/database/database'
import { insertTransaction, sha256OfInput } from '../money-ledger/ledger.ts'
import { retryShortTakeBacks } from '../payments/take-backs-repository.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { restoreToGrants, type Burn } from './burn-order.ts'
import { insertBurns } from './burns.ts'
import { recordCreditEvent } from './credit-event.ts'
import { valueEntries } from './credit-value.ts'
import type { DebitBatch } from './debits.ts'
import { rescheduleExpiry } from './expiring-grants.ts'
import { insertGrant, listGrants, updateGrants } from './grants.ts'
import { updateWallet, type Wallet } from './repository.ts'

/** Credits that usage took from a grant. */
type UsedGrant = Burn & {
  /** The provider gave the credits because usage took more than the wallet had. */
  readonly isWrittenOff: boolean
}

/**
 * Returns the grants to which the credits are returned. `used` lists the credits that usage took from each grant, in the order in which
 * they are returned. `restMicros` is the part of `micros` that no posted usage took: its debits were lost when the database was restored
 * to an earlier state.
 */
function allocateReturn(
  used: readonly UsedGrant[],
  micros: bigint,
): { readonly returned: readonly UsedGrant[]; readonly restMicros: bigint } {
  const returned: UsedGrant[] = []
  let left = micros
  for (const grant of used) {
    const part = grant.micros < left ? grant.micros : left
    if (part > 0n) returned.push({ ...grant, micros: part })
    left -= part
  }
  return { returned, restMicros: left }
}

/**
 * Posts debits whose sum is negative, because corrections have removed more usage than was new. The credits go back to the grants from
 * which usage took credits last, and the value of paid credits is owed again. Credits of grants that have expired since expire again.
 * Credits that no posted usage had taken become a grant of their own. Credits that were written off do not go to the wallet: the
 * write-off is reversed. Take-backs that found too few credits are tried again. The caller has locked the wallet.
 */
export async function returnUsage(
  work: UnitOfWork,
  { partition, fromOffset, toOffset }: Omit<DebitBatch, 'debits'>,
  customerRef: string,
  before: Wallet,
  amountMicros: bigint,
): Promise<void> {
  const { sql, providerId, now } = work
  const used = await listUsedGrants(sql, providerId, customerRef, amountMicros)
  const { returned, restMicros } = allocateReturn(used, amountMicros)
  const kept = returned.filter(({ isWrittenOff }) => !isWrittenOff)
  const grants = await listGrants(
    sql,
    providerId,
    returned.map(({ grantRef }) => grantRef),
  )
  const reference = generateReference('transaction')
  const negative = returned.map(({ grantRef, micros }) => ({ grantRef, micros: -micros }))
  await insertTransaction(sql, providerId, {
    reference,
    kind: 'usage',
    key: `usage:${reference}`,
    inputSha256: sha256OfInput([customerRef, (-amountMicros).toString()]),
    customerRef,
    reason: 'usage was corrected',
    result: { credits: numberFromMicros(-amountMicros), partition, fromOffset, toOffset },
    createdAt: now,
    entries: [
      { account: 'wallet', amountMicros },
      { account: 'used', amountMicros: -amountMicros },
      ...valueEntries(grants, negative, 'revenue'),
    ],
  })
  await insertBurns(sql, providerId, reference, negative)
  await updateGrants(sql, providerId, grants, restoreToGrants(grants, kept))
  if (restMicros > 0n) {
    // Hot state has returned these credits, too. Without a grant for them, no debit of the partition could be posted any more.
    const rest = { reference, remainingMicros: restMicros, priority: 0, expiresAt: null }
    await insertGrant(sql, providerId, customerRef, { ...rest, paid: null, createdAt: now })
  }
  if (kept.length > 0) {
    await rescheduleExpiry(
      sql,
      providerId,
      kept.map(({ grantRef }) => grantRef),
    )
    await retryShortTakeBacks(sql, providerId, customerRef, now)
  }
  const wallet = await reverseWriteOff(
    work,
    customerRef,
    { ...before, balanceMicros: before.balanceMicros + amountMicros },
    returned.filter(({ isWrittenOff }) => isWrittenOff),
  )
  await updateWallet(sql, providerId, customerRef, wallet, now)
  const keptMicros = wallet.balanceMicros - before.balanceMicros
  if (keptMicros === 0n) return
  await recordCreditEvent(work, 'adjusted', {
    customerRef,
    balanceMicros: wallet.balanceMicros,
    amountMicros: keptMicros,
    productRef: null,
  })
}

/** Takes back credits that the provider had given for usage beyond the balance. Returns the wallet without them. */
async function reverseWriteOff(
  work: UnitOfWork,
  customerRef: string,
  wallet: Wallet,
  writtenOff: readonly Burn[],
): Promise<Wallet> {
  const { sql, providerId, now } = work
  const micros = writtenOff.reduce((sum, each) => sum + each.micros, 0n)
  if (micros === 0n) return wallet
  const reference = generateReference('transaction')
  await insertTransaction(sql, providerId, {
    reference,
    kind: 'write_off',
    key: `write-off:${reference}`,
    inputSha256: sha256OfInput([customerRef, (-micros).toString()]),
    customerRef,
    reason: 'usage beyond the balance was corrected',
    result: {},
    createdAt: now,
    entries: [
      { account: 'wallet', amountMicros: -micros },
      { account: 'written_off', amountMicros: micros },
    ],
  })
  await insertBurns(sql, providerId, reference, writtenOff)
  // Until the publication, hot state admits this amount beyond the balance. If usage takes it, it is written off again.
  await queuePublication(work, 'customer', customerRef)
  return {
    ...wallet,
    grantedMicros: wallet.grantedMicros - micros,
    balanceMicros: wallet.balanceMicros - micros,
  }
}

/**
 * Returns what usage took from each grant and was not returned, of as many grants as return `micros`: credits that were written off
 * first, because they would not have been written off without the corrected usage, then the grant that was used last. A wallet can have
 * used any number of grants, of which most are not returned.
 */
async function listUsedGrants(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  micros: bigint,
): Promise<UsedGrant[]> {
  const rows = await sql<{ grant_ref: string; micros: string; is_written_off: boolean }[]>`
    select grant_ref, micros::text, is_written_off
    from (
      select *, sum(micros) over (order by place) as micros_up_to
      from (
        select burns.grant_ref, sum(burns.micros) as micros, granted.kind = 'write_off' as is_written_off,
          row_number() over (order by granted.kind = 'write_off' desc,
            max(used.created_at) filter (where burns.micros > 0) desc, granted.created_at desc,
            burns.grant_ref) as place
        from ledger_transactions as used
        join credit_burns as burns on burns.provider_id = used.provider_id
          and burns.transaction_ref = used.reference
        join ledger_transactions as granted on granted.provider_id = burns.provider_id
          and granted.reference = burns.grant_ref
        where used.provider_id = ${providerId} and used.customer_ref = ${customerRef}
          and used.kind = 'usage'
        group by burns.grant_ref, granted.kind, granted.created_at
        having sum(burns.micros) > 0
      ) as taken
    ) as summed
    where micros_up_to - micros < ${micros.toString()}
    order by place`
  return rows.map((row) => ({
    grantRef: row.grant_ref,
    micros: BigInt(row.micros),
    isWrittenOff: row.is_written_off,
  }))
}
