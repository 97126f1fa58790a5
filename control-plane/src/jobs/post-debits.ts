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
import { repeating, type JobParts } from './repeating.ts'

type PostingParts = JobParts & {
  readonly eventLog: EventLog
  readonly usageStore: UsageStore
}

/** Debits that are read at a time. */
const debitsPerBatchMax = 2_000

/** Wallets of one transaction, which holds their rows: a grant to one of them waits for it. */
const walletsPerBatchMax = 50

/**
 * Brings what wallets paid for usage into the ledger, a moment after it happened: partition by partition of the log, from
 * what the sink has stored in ClickHouse. Up to the sink's position all records are there, each once, and none of them
 * changes any more. Several processes may do it at once; the position in PostgreSQL lets each batch be posted by one.
 */
export function createDebitPosting(parts: PostingParts, intervalMs: number): Service {
  /** How far nothing is to be posted, by partition: to spare the stores a position without debits. */
  const looked = new Map<string, number>()
  const round = async (): Promise<void> => {
    for (const environment of environments) {
      await telling(parts, environment, 'all', async () => {
        if (!(await hasWallets(parts.publisher.database.in(environment)))) return
        const partitions = parts.publisher.partitionCount(environment)
        for (let partition = 0; partition < partitions; partition++) {
          // What holds one up holds up no other.
          await telling(parts, environment, partition, async () => {
            while (await postBatch(parts, environment, partition, looked));
          })
        }
      })
    }
  }
  return repeating(round, intervalMs)
}

async function telling(
  { logger }: PostingParts,
  environment: Environment,
  partition: number | 'all',
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act()
  } catch (error) {
    const isExpected =
      error instanceof UsageStoreUnavailableError || error instanceof UsageBehindError
    const level = isExpected ? 'warn' : 'error'
    logger[level]({ err: error, environment, partition }, 'what wallets paid waits to be posted')
  }
}

/** Whether there may be more. */
async function postBatch(
  { eventLog, usageStore, publisher, logger }: PostingParts,
  environment: Environment,
  partition: number,
  looked: Map<string, number>,
): Promise<boolean> {
  const position = await eventLog.position(sinkGroup, usageTopic(environment), partition)
  const name = `${environment} ${partition}`
  if (position.note === '' || (looked.get(name) ?? 0) >= position.offset) return false
  const pool = publisher.database.in(environment)
  const fromOffset = await pool.begin((sql) => readDebitPosition(sql, partition))
  // The sink stores the log again from where it had lost its position; or the log is another one (docs/operations.md).
  if (fromOffset > position.offset) return false
  const range = { partition, fromOffset, toOffset: position.offset }
  const read = await listStoredDebits(usageStore, environment, range, debitsPerBatchMax)
  // A ClickHouse that lost rows would have debits passed over for good.
  await requireComparedStore(usageStore, environment, [position.note])
  const debits = ofFirstWallets(read, walletsPerBatchMax)
  const isWhole = debits.length === read.length && read.length < debitsPerBatchMax
  const toOffset = isWhole ? position.offset : debits.at(-1)!.offset + 1
  if (debits.length > 0) {
    const batch = { partition, fromOffset, toOffset, debits }
    const outcome = await pool.begin((sql) => postDebits(sql, environment, batch, publisher.now()))
    if (outcome.kind === 'elsewhere') return true
    for (const { micros, ...stranger } of outcome.strangers) {
      const debit = { ...stranger, environment, micros: micros.toString() }
      logger.error({ debit }, 'a customer paid who is not there: not posted')
    }
    for (const target of outcome.publications) {
      await publish(publisher, environment, target, 'pending')
    }
  }
  looked.set(name, toOffset)
  return !isWhole
}

/** As many as are of so many wallets. */
function ofFirstWallets<Debit extends StoredDebit>(
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
