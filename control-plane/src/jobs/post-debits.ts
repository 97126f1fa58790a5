import { publish } from '@tollgate/domain/publishing/publisher'
import { readDebitPosition } from '@tollgate/domain/wallet/debit-positions'
import type { StoredDebit } from '@tollgate/domain/wallet/debits'
import { postDebits } from '@tollgate/domain/wallet/post-debits'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { requireComparedStore } from '@tollgate/domain/stored-usage/store-incarnation'
import { hasWallets } from '@tollgate/domain/wallet/repository'
import {
  UsageStoreUnavailableError,
  type UsageStore,
} from '@tollgate/platform/usage-store/usage-store'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { Service } from '@tollgate/platform/service/service'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import { listStoredDebits } from '../usage/list-stored-debits.ts'
import { repeating, reportFailure, type JobParts } from './repeating.ts'

type PostingParts = JobParts & {
  readonly eventLog: EventLog
  readonly usageStore: UsageStore
}

/** Maximum number of debits in one read. */
const debitsPerBatchMax = 2_000

/**
 * Maximum number of wallets in one transaction. The transaction locks their rows, so a grant to one of these wallets waits for it.
 */
const walletsPerBatchMax = 50

/**
 * Posts the debits of wallets for usage to the ledger, shortly after the usage: partition by partition of the log, from the records
 * that the sink has stored in ClickHouse. Up to the sink's position, every record is stored exactly once and no longer changes.
 * Several processes may run it at the same time: the position in PostgreSQL lets only one process post each batch.
 */
export function createDebitPosting(parts: PostingParts, intervalMs: number): Service {
  /** Offset up to which a partition has no debits to post. It saves reads of partitions without debits. */
  const postedTo = new Map<string, number>()
  const round = async (): Promise<void> => {
    for (const environment of environments) {
      await logFailure(parts, environment, 'all', async () => {
        if (!(await hasWallets(parts.publisher.database.in(environment)))) return
        const partitions = parts.publisher.partitionCount(environment)
        for (let partition = 0; partition < partitions; partition++) {
          // A failure in one partition must not delay the others.
          await logFailure(parts, environment, partition, async () => {
            while (await postBatch(parts, environment, partition, postedTo));
          })
        }
      })
    }
  }
  return repeating(round, intervalMs)
}

function logFailure(
  { logger }: PostingParts,
  environment: Environment,
  partition: number | 'all',
  step: () => Promise<void>,
): Promise<void> {
  return reportFailure(step, (err) => {
    const isExpected = err instanceof UsageStoreUnavailableError || err instanceof UsageBehindError
    const level = isExpected ? 'warn' : 'error'
    logger[level]({ err, environment, partition }, 'could not post debits; the next round retries')
  })
}

/** Posts one batch. Returns whether there may be more debits. */
async function postBatch(
  { eventLog, usageStore, publisher, logger }: PostingParts,
  environment: Environment,
  partition: number,
  postedTo: Map<string, number>,
): Promise<boolean> {
  const position = await eventLog.position(sinkGroup, usageTopic(environment), partition)
  const name = `${environment} ${partition}`
  if (position.note === '' || (postedTo.get(name) ?? 0) >= position.offset) return false
  const pool = publisher.database.in(environment)
  const fromOffset = await pool.begin((sql) => readDebitPosition(sql, partition))
  // Either the sink stores the log again because it had lost its position, or the log is a different one (docs/operations.md).
  if (fromOffset > position.offset) return false
  const range = { partition, fromOffset, toOffset: position.offset }
  const read = await listStoredDebits(usageStore, environment, range, debitsPerBatchMax)
  // If ClickHouse had lost rows, their debits would be skipped forever.
  await requireComparedStore(usageStore, environment, [position.note])
  const debits = debitsOfFirstWallets(read, walletsPerBatchMax)
  const isComplete = debits.length === read.length && read.length < debitsPerBatchMax
  const toOffset = isComplete ? position.offset : debits.at(-1)!.offset + 1
  if (debits.length > 0) {
    const batch = { partition, fromOffset, toOffset, debits }
    const outcome = await pool.begin((sql) => postDebits(sql, environment, batch, publisher.now()))
    if (outcome.kind === 'elsewhere') return true
    for (const { micros, ...unknownWallet } of outcome.unknownDebits) {
      const debit = { ...unknownWallet, environment, micros: micros.toString() }
      logger.error({ debit }, 'a debit of an unknown customer was not posted')
    }
    for (const target of outcome.publications) {
      await publish(publisher, environment, target, 'pending')
    }
  }
  postedTo.set(name, toOffset)
  return !isComplete
}

/** Returns the first debits, up to `walletsMax` different wallets. */
function debitsOfFirstWallets<Debit extends StoredDebit>(
  debits: readonly Debit[],
  walletsMax: number,
): readonly Debit[] {
  const wallets = new Set<string>()
  const end = debits.findIndex(({ providerId, customerRef }) => {
    wallets.add(JSON.stringify([providerId, customerRef]))
    return wallets.size > walletsMax
  })
  return end < 0 ? debits : debits.slice(0, end)
}
