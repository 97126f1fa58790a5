import type { TransactionSql } from 'postgres'
import type { Environment } from '@tollgate/schemas/environment'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { jobActor, setActor } from '../audit/actor.ts'
import type { PublicationTarget } from '../publications/repository.ts'
import { listClockTimes } from '../test-clocks/customer-time.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { listReceivingProviders } from '../webhooks/receiving-providers.ts'
import { recordCreditEvent } from './credit-event.ts'
import { recordWalletCrossings, WalletAlerts } from '../alerts/wallet-alerts.ts'
import { crossedThresholds } from './balance-thresholds.ts'
import { allocateBurn, burnGrants } from './burn-order.ts'
import { insertBurns } from './burns.ts'
import { valueEntries } from './credit-value.ts'
import {
  lockKnownCustomers,
  moveDebitPosition,
  customerKeyText,
  readDebitPosition,
} from './debit-positions.ts'
import {
  debitSteps,
  groupByWallet,
  type DebitBatch,
  type StoredDebit,
  type WalletDebits,
} from './debits.ts'
import { listOpenGrants, updateGrants } from './grants.ts'
import { insertTransaction, sha256OfInput } from '../money-ledger/ledger.ts'
import { WarningLevels } from './warning-levels.ts'
import { lockWallet, updateWallet } from './repository.ts'
import { returnUsage } from './return-usage.ts'
import { writeOff } from './write-off.ts'

const poster = jobActor('post-debits')

export type PostOutcome =
  | {
      readonly kind: 'posted'
      /** Publications to make after the transaction has committed. */
      readonly publications: readonly PublicationTarget[]
      /** Debits of customers that are not in the database, because it was restored to an earlier state. */
      readonly unknownDebits: readonly StoredDebit[]
    }
  /** Another process has posted the debits, and nothing was changed. */
  | { readonly kind: 'elsewhere' }

/**
 * Posts the debits of a batch. For each wallet it writes one ledger transaction and its events, then moves the position of the
 * partition, all in the given transaction. Each debit is therefore posted once, whatever process crashes. If two processes post the
 * same batch, the second finds that the position has moved.
 *
 * Wallets are locked in one order, so that two batches cannot deadlock. Their statements are sent concurrently, and the server runs
 * them in the order in which they arrive. A debit that cannot be posted is returned in `unknownDebits` and skipped, because it would
 * otherwise block all later debits.
 */
export async function postDebits(
  sql: TransactionSql,
  environment: Environment,
  batch: DebitBatch,
  now: Date,
): Promise<PostOutcome> {
  setActor(sql, poster)
  const position = await readDebitPosition(sql, batch.partition)
  if (position !== batch.fromOffset) return { kind: 'elsewhere' }
  const known = await lockKnownCustomers(sql, batch.debits)
  const isKnown = (debit: StoredDebit): boolean => known.has(customerKeyText(debit))
  const clocks = await listClockTimes(sql, environment, batch.debits)
  const publications: PublicationTarget[] = []
  const eventInputs = {
    warnings: new WarningLevels(),
    alerts: new WalletAlerts(),
    receivers: await listReceivingProviders(sql, 'customer.credit.debited'),
  }
  await Promise.all(
    groupByWallet(batch.debits.filter(isKnown)).map(async (wallet) => {
      const { providerId } = wallet
      const by = { actor: poster, requestId: null, idempotencyKey: null }
      const time = clocks.get(wallet.customerRef) ?? now
      const work = { providerId, environment, now: time, ...by, sql, publications, asked: [] }
      await postWallet(work, batch, wallet, eventInputs)
    }),
  )
  await moveDebitPosition(sql, batch.partition, batch.toOffset)
  const unknownDebits = batch.debits.filter((debit) => !isKnown(debit))
  return { kind: 'posted', publications, unknownDebits }
}

type EventInputs = {
  readonly warnings: WarningLevels
  readonly alerts: WalletAlerts
  /** Providers with an endpoint that receives an event for each debit. */
  readonly receivers: ReadonlySet<string>
}

async function postWallet(
  work: UnitOfWork,
  { partition, fromOffset, toOffset }: DebitBatch,
  { customerRef, byProduct }: WalletDebits,
  eventInputs: EventInputs,
): Promise<void> {
  const { sql, providerId, now } = work
  const before = await lockWallet(sql, providerId, customerRef, now)
  let wallet = before
  const amountMicros = [...byProduct.values()].reduce((sum, micros) => sum + micros, 0n)
  // Corrections have negative debits.
  if (amountMicros === 0n) return
  if (amountMicros < 0n) {
    const range = { partition, fromOffset, toOffset }
    return returnUsage(work, range, customerRef, before, -amountMicros)
  }
  if (amountMicros > wallet.balanceMicros) {
    wallet = await writeOff(work, customerRef, wallet, amountMicros - wallet.balanceMicros)
  }
  const grants = await listOpenGrants(sql, providerId, customerRef)
  const burns = allocateBurn(grants, amountMicros)
  const reference = generateReference('transaction')
  await insertTransaction(sql, providerId, {
    reference,
    kind: 'usage',
    // The position prevents double posting. The key does not use offsets, because a new log can reach the same offsets again.
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
  await updateGrants(sql, providerId, grants, burnGrants(grants, burns))
  await insertBurns(sql, providerId, reference, burns)
  const balanceMicros = wallet.balanceMicros - amountMicros
  await updateWallet(sql, providerId, customerRef, { ...wallet, balanceMicros }, now)
  const beforeMicros = before.balanceMicros
  await emitCreditEvents(work, customerRef, beforeMicros, byProduct, eventInputs)
  const alert = await eventInputs.alerts.read(work, customerRef)
  await recordWalletCrossings(work, alert, {
    customerRef,
    beforeMicros,
    afterMicros: balanceMicros,
  })
}

/**
 * Emits one event for each crossed threshold. If an endpoint receives `customer.credit.debited`, it also emits one event for each
 * product. Otherwise that event is not emitted, because there would be one for nearly every active customer at each posting. Usage
 * beyond the balance is written off and crosses no threshold.
 */
async function emitCreditEvents(
  work: UnitOfWork,
  customerRef: string,
  balanceMicros: bigint,
  byProduct: ReadonlyMap<string, bigint>,
  { warnings, receivers }: EventInputs,
): Promise<void> {
  for (const step of debitSteps(balanceMicros, byProduct)) {
    const { productRef, micros, beforeMicros, afterMicros } = step
    const warningMicros = await warnings.read(work, customerRef, productRef)
    const crossings = crossedThresholds(beforeMicros, afterMicros, warningMicros)
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
