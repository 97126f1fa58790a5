import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readSettings, textSetting } from '@tollgate/platform/config/settings'
import {
  eventLogSettings,
  eventLogWriterSettings,
} from '@tollgate/platform/event-log/event-log-settings'
import {
  openEventLogForReading,
  openEventLogForWriting,
} from '@tollgate/platform/event-log/open-event-log'
import type { ValueSchemas } from '@tollgate/platform/event-log/value-schemas'
import { createLogger } from '@tollgate/platform/observability/logger'
import { createSchemaRegistry } from '@tollgate/platform/schema-registry/schema-registry'
import { addPartitions, deleteTopics } from '@tollgate/platform/testing/kafka-under-test'
import { meterEventType, type MeterEvent } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent, MeterEventDecoder } from '@tollgate/schemas/meter-event-codec'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Engine } from '../../tools/src/engines/engine.ts'
import { planFreePorts } from '../../tools/src/engines/port-plan.ts'
import { startSchemaRegistry } from '../../tools/src/engines/schema-registry.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/standalone/temporary-folder.ts'
import { findMissingEngines } from './engines/find-missing-engines.ts'
import { recordedEvent } from './recorded-event.ts'

const brokers = process.env['TOLLGATE_TEST_KAFKA_BROKERS'] ?? ''
const missing = await findMissingEngines()
const isLeftOut = missing.isLeftOut || brokers === ''
const title = brokers === '' ? ' (left out without TOLLGATE_TEST_KAFKA_BROKERS)' : missing.title
const timeout = 300_000
const topic = 'orders'
const logger = createLogger('test', 'silent')

let folder: TemporaryFolder
let registry: Engine | undefined
let port: number
let namePrefix: string
let lives = 0

const event: MeterEvent = {
  ...recordedEvent({
    id: 'usage_1',
    providerId: 'prv_1',
    customerRef: 'user_ada',
    meterName: 'requests',
    value: 2_000_000,
    timestamp: 1_800_000_000_000,
    receivedAt: 1_800_000_000_001,
    productRef: null,
  }),
  idempotencyKey: 'k1',
}

/** Returns the schemas and the decoder of a new process that has read nothing. */
function freshValues(schema = meterEventValues.schema) {
  const decoder = new MeterEventDecoder()
  const values: ValueSchemas = {
    ...meterEventValues,
    schema,
    knows: (id) => decoder.knows(id),
    learn: (id, type) => decoder.learn(id, type),
  }
  return { values, decoder }
}

const newerSchema = JSON.stringify({
  ...(JSON.parse(meterEventValues.schema) as object),
  fields: [
    ...(JSON.parse(meterEventValues.schema) as { fields: object[] }).fields,
    { name: 'addedLater', type: 'string', default: '' },
  ],
})

function configOf(more: Readonly<Record<string, string>> = {}) {
  const settings = {
    ...eventLogSettings,
    ...eventLogWriterSettings,
    dataDir: textSetting('TOLLGATE_DATA_DIR', ''),
  }
  return readSettings(settings, {
    TOLLGATE_DATA_DIR: '/nowhere',
    TOLLGATE_EVENT_LOG: 'kafka',
    TOLLGATE_KAFKA_BROKERS: brokers,
    TOLLGATE_KAFKA_NAME_PREFIX: namePrefix,
    TOLLGATE_KAFKA_REPLICATION: '1',
    TOLLGATE_KAFKA_MIN_IN_SYNC: '1',
    TOLLGATE_LOG_PARTITIONS: '2',
    TOLLGATE_SCHEMA_REGISTRY_URL: registryUrl(),
    ...more,
  })
}

function registryUrl(): string {
  return `http://127.0.0.1:${port}/apis/ccompat/v7`
}

function openWriter(schema?: string, more?: Readonly<Record<string, string>>) {
  const { values } = freshValues(schema)
  return openEventLogForWriting(configOf(more), { topics: [topic], values, logger })
}

function currentRecord(schemaId: number): Uint8Array {
  const buffer = Buffer.alloc(1_000)
  return Buffer.from(buffer.subarray(0, encodeMeterEvent(event, buffer, 0, schemaId)))
}

function newerRecord(schemaId: number): Uint8Array {
  const header = Buffer.alloc(5)
  header.writeUInt32BE(schemaId, 1)
  const type = meterEventType(JSON.parse(newerSchema) as Parameters<typeof meterEventType>[0])
  return Buffer.concat([header, type.toBuffer({ ...event, addedLater: 'x' })])
}

async function write(recordOf: (schemaId: number) => Uint8Array, schema?: string): Promise<number> {
  const writer = await openWriter(schema)
  try {
    await writer.log.append(topic, 0, recordOf(writer.schemaId), Date.now())
    return writer.schemaId
  } finally {
    await writer.close()
  }
}

/** Returns what a process reads that starts now. */
async function readAll(): Promise<MeterEvent[]> {
  const { values, decoder } = freshValues()
  const log = await openEventLogForReading(configOf(), { topics: [topic], values, logger })
  try {
    const records = await log.read(topic, 0, 0, { recordsMax: 100, bytesMax: 1_000_000 })
    return records.map(({ value }) => decoder.decode(value))
  } finally {
    await log.close()
  }
}

/** Starts an empty schema registry. */
async function startEmptyRegistry(): Promise<void> {
  lives += 1
  const root = join(folder.path, `registry-${lives}`)
  registry = await startSchemaRegistry({ root, print: () => undefined, endsWithParent: true }, port)
}

async function loseRegistry(): Promise<void> {
  await registry?.stop()
  registry = undefined
}

/** Registers unrelated schemas until the next id is `id`. */
async function useUpIdsBefore(id: number): Promise<void> {
  const client = createSchemaRegistry({ url: registryUrl() }, {})
  for (let given = 0, number = 0; given < id - 1; number += 1) {
    const name = `Order${lives}x${number}`
    const schema = { type: 'record', name, fields: [{ name: 'amount', type: 'int' }] }
    given = await client.idOf(name, JSON.stringify(schema))
  }
}

describe.skipIf(isLeftOut)(`notes beside the log in Kafka${title}`, () => {
  beforeAll(async () => {
    folder = await makeTemporaryFolder('log-notes')
    port = (await planFreePorts()).schemaRegistry
    await startEmptyRegistry()
  }, timeout)
  afterAll(async () => {
    await loseRegistry()
    await folder.remove()
  })
  beforeEach(() => {
    namePrefix = `test-${randomBytes(6).toString('hex')}.`
  })
  afterEach(() => deleteTopics(brokers.split(','), namePrefix))

  it('reads old and new records after the registry has lost all schemas', { timeout }, async () => {
    await useUpIdsBefore(5)
    const before = await write(currentRecord)
    expect(before).toBeGreaterThanOrEqual(5)
    await loseRegistry()

    // The registry is not needed for schemas that are noted in the log.
    expect(await readAll()).toEqual([event])
    expect(await write(currentRecord)).toBe(before)

    await startEmptyRegistry()
    await useUpIdsBefore(before + 1)
    expect(await readAll()).toEqual([event, event])
    const after = await write(newerRecord, newerSchema)
    expect(after).not.toBe(before)
    expect(await write(currentRecord)).toBe(before)
    expect(await readAll()).toEqual([event, event, event, event])
  })

  it('refuses to write with an id that belongs to another schema', { timeout }, async () => {
    await loseRegistry()
    await startEmptyRegistry()
    const before = await write(currentRecord)
    await loseRegistry()
    await startEmptyRegistry()
    await useUpIdsBefore(before)
    const client = createSchemaRegistry({ url: registryUrl() }, meterEventValues.typeOptions)
    expect(await client.idOf(meterEventValues.subject, newerSchema)).toBe(before)
    await expect(openWriter(newerSchema)).rejects.toThrow(/restore its data, then start again/)
    expect(await readAll()).toEqual([event])
  })

  it(
    'refuses to start if partitions were added, unless they are ignored',
    { timeout },
    async () => {
      const running = await openWriter()
      await running.log.append(topic, 1, currentRecord(running.schemaId), Date.now())
      await running.log.checkPartitions()

      await addPartitions(brokers.split(','), namePrefix + topic, 3)
      await expect(running.log.checkPartitions()).rejects.toThrow(/3 partitions, .* placed on 2/)
      await running.close()

      const wayOut = /TOLLGATE_KAFKA_ADDED_PARTITIONS=ignore/
      await expect(readAll()).rejects.toThrow(wayOut)
      await expect(openWriter()).rejects.toThrow(wayOut)
      await expect(openWriter(undefined, { TOLLGATE_LOG_PARTITIONS: '3' })).rejects.toThrow(wayOut)

      const ignoring = await openWriter(undefined, { TOLLGATE_KAFKA_ADDED_PARTITIONS: 'ignore' })
      expect(ignoring.log.partitionCount(topic)).toBe(2)
      await ignoring.log.append(topic, 1, currentRecord(ignoring.schemaId), Date.now())
      expect(await ignoring.log.head(topic, 1)).toBe(2)
      await expect(ignoring.log.checkPartitions()).rejects.toThrow(/placed on 2/)
      await ignoring.close()
    },
  )
})
