import { randomBytes } from 'node:crypto'
import { readSettings, textSetting } from '@tollgate/platform/config/settings'
import {
  eventLogSettings,
  eventLogWriterSettings,
} from '@tollgate/platform/event-log/event-log-settings'
import { openEventLogForWriting } from '@tollgate/platform/event-log/open-event-log'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import { openHotState } from '@tollgate/platform/hot-state/open-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import { startTestUsageStore } from '@tollgate/platform/testing/embedded-servers'
import { deleteTopics } from '@tollgate/platform/testing/kafka-under-test'
import { deleteKeysOf } from '@tollgate/platform/testing/redis-under-test'
import { environments } from '@tollgate/schemas/environment'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { usageTopic } from '@tollgate/schemas/topics'
import {
  emptyUsageTables,
  partitionCount,
  partitionOfEvent,
  type Installation,
} from './installation.ts'

const variables = [
  'TOLLGATE_TEST_KAFKA_BROKERS',
  'TOLLGATE_TEST_SCHEMA_REGISTRY_URL',
  'TOLLGATE_TEST_REDIS_URL',
] as const

/** The missing variables among those that hold the addresses of the engines. */
export const missingEngines = variables.filter((variable) => process.env[variable] === undefined)

/** Creates an installation like the embedded one, with its own topics and keys in Kafka and Redis. */
export async function createEngineInstallation(): Promise<Installation> {
  const name = `test-${randomBytes(6).toString('hex')}`
  const [brokers, registry, redis] = variables.map((variable) => process.env[variable] ?? '')
  const environment = {
    TOLLGATE_DATA_DIR: '/nowhere',
    TOLLGATE_EVENT_LOG: 'kafka',
    TOLLGATE_KAFKA_BROKERS: brokers!,
    TOLLGATE_KAFKA_NAME_PREFIX: `${name}.`,
    TOLLGATE_KAFKA_SESSION_TIMEOUT_MS: '6000',
    TOLLGATE_SCHEMA_REGISTRY_URL: registry!,
    TOLLGATE_HOT_STATE: 'redis',
    TOLLGATE_REDIS_URL: redis!,
    TOLLGATE_REDIS_KEY_PREFIX: name,
  }
  const settings = {
    ...eventLogSettings,
    ...eventLogWriterSettings,
    ...hotStateSettings,
    dataDir: textSetting('TOLLGATE_DATA_DIR', ''),
  }
  const config = readSettings(settings, {
    ...environment,
    TOLLGATE_LOG_PARTITIONS: String(partitionCount),
    TOLLGATE_KAFKA_REPLICATION: '1',
    TOLLGATE_KAFKA_MIN_IN_SYNC: '1',
  })
  const logger = createLogger('test', 'silent')
  const topics = environments.map(usageTopic)
  const { log, schemaId } = await openEventLogForWriting(config, {
    topics,
    values: meterEventValues,
    logger,
  })
  const hotState = await openHotState(config, 'projection', logger)
  const clickhouse = await startTestUsageStore()
  await emptyUsageTables(clickhouse)
  const buffer = Buffer.alloc(1 << 20)
  return {
    dataDir: environment.TOLLGATE_DATA_DIR,
    environment,
    log,
    hotState,
    clickhouse,
    appendEvents: async (events) => {
      const records = events.map((event) => {
        const end = encodeMeterEvent(event, buffer, 0, schemaId)
        return {
          partition: partitionOfEvent(event),
          value: new Uint8Array(buffer.subarray(0, end)),
        }
      })
      await log.appendAll(usageTopic('sandbox'), records, Date.now())
    },
    remove: async () => {
      await log.close()
      await hotState.close()
      await clickhouse.stop()
      await deleteTopics(brokers!.split(','), `${name}.`)
      await deleteKeysOf({ url: redis! }, name)
    },
  }
}
