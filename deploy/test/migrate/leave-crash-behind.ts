import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { runSinkBatch } from '@tollgate/aggregator/consume/run-sink-batch'
import { untracedBatches } from '@tollgate/aggregator/consume/trace-batches'
import { spawnChdbGateway } from '@tollgate/platform/chdb-gateway/spawn-chdb-gateway'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { decodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { usageTopic } from '@tollgate/schemas/topics'

const topic = usageTopic('sandbox')
const readLimits = { recordsMax: 20, bytesMax: 1_000_000 }

/**
 * Adds to a stopped installation what only a crash or a fault leaves behind: duplicate records with the same key, bytes that are
 * not an event, and in each partition a batch that the sink stored without advancing its position.
 */
export async function leaveCrashBehind(dataDir: string): Promise<void> {
  const log = await openFileEventLog({
    logFolder: join(dataDir, 'log'),
    groupsFolder: join(dataDir, 'groups'),
    role: 'writer',
    topics: {},
  })
  const hotState = await openLmdbHotState({ folder: join(dataDir, 'hot'), role: 'publisher' })
  const password = randomUUID()
  const gateway = await spawnChdbGateway({ folder: join(dataDir, 'clickhouse'), password })
  const connection = { url: gateway.url, username: 'default', password, requestTimeoutMs: 30_000 }
  const usageStore = createClickHouseUsageStore(connection)
  try {
    for (let partition = 0; partition < log.partitionCount(topic); partition += 1) {
      await appendOddRecords(log, partition)
      const position = await log.position(sinkGroup, topic, partition)
      const killed = runSinkBatch(
        {
          log: killedAtCommit(log, position.offset),
          hotState,
          usageStore,
          environment: 'sandbox',
          topic,
          partition,
          readLimits,
          cluster: undefined,
          countersWaitMs: 1,
          newLineage: randomUUID,
          traceBatch: untracedBatches,
        },
        position,
      )
      await killed.catch((error: unknown) => {
        if (!(error instanceof KilledError)) throw error
      })
    }
  } finally {
    await usageStore.close()
    await gateway.stop()
    await hotState.close()
    await log.close()
  }
}

async function appendOddRecords(log: EventLog, partition: number): Promise<void> {
  const stored = await log.read(topic, partition, 0, { recordsMax: 20, bytesMax: 1_000_000 })
  const twice = stored
    .filter(({ value }) => decodeMeterEvent(value).idempotencyKey !== null)
    .map(({ value }) => ({ partition, value: new Uint8Array(value) }))
  await log.appendAll(topic, twice, Date.now())
  await log.appendAll(topic, [{ partition, value: Buffer.from('no event') }], Date.now())
}

class KilledError extends Error {
  override readonly name = 'KilledError'
}

/** Returns the log of a sink that is killed before it commits its position. */
function killedAtCommit(log: EventLog, position: number): EventLog {
  return new Proxy(log, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (name !== 'commit') {
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      }
      return async (...parameters: Parameters<EventLog['commit']>) => {
        if (parameters[4].offset > position) throw new KilledError()
        await target.commit(...parameters)
      }
    },
  })
}
