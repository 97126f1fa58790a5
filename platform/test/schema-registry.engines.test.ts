import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeMeterEvent, encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import {
  meterEventSchemas,
  meterEventType,
  type MeterEvent,
  withoutCounts,
} from '@tollgate/schemas/meter-event'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import type avro from 'avsc'
import { describe, expect, it } from 'vitest'
import { learnSchemas } from '../src/event-log/value-schemas.ts'
import {
  createSchemaRegistry,
  SchemaRegistryError,
} from '../src/schema-registry/schema-registry.ts'

const url = process.env['TOLLGATE_TEST_SCHEMA_REGISTRY_URL']

const event: MeterEvent = {
  id: 'usage_1',
  providerId: 'prv_1',
  customerRef: 'user_ada',
  meterName: 'requests',
  value: -Number.MAX_SAFE_INTEGER,
  timestamp: 1_800_000_000_000,
  receivedAt: 1_800_000_000_001,
  productRef: null,
  purchaseRef: null,
  outcome: 'success',
  source: 'usages',
  idempotencyKey: 'k1',
  properties: '{}',
  reservationId: null,
  traceParent: null,
  debit: null,
  ...withoutCounts,
}

function recordOf(value: Uint8Array) {
  return { offset: 0, receivedAtMs: 1, value }
}

describe.skipIf(url === undefined)('with TOLLGATE_TEST_SCHEMA_REGISTRY_URL', () => {
  const open = (at = url!) => createSchemaRegistry({ url: at }, meterEventValues.typeOptions)

  it('returns the same id for the same schema to every caller', async () => {
    const subject = `test-${randomUUID()}`
    const ids = await Promise.all(
      [open(), open()].map((each) => each.idOf(subject, meterEventValues.schema)),
    )
    expect(ids[0]).toBe(ids[1])
    expect(await open().idOf(subject, meterEventValues.schema)).toBe(ids[0])
  })

  it('decodes a log by loading schemas as their ids occur', async () => {
    const registry = open()
    const id = await registry.idOf(`test-${randomUUID()}`, meterEventValues.schema)
    const buffer = Buffer.alloc(1_000)
    const value = buffer.subarray(0, encodeMeterEvent(event, buffer, 0, id))
    await learnSchemas(open(), meterEventValues)([recordOf(value)])
    expect(decodeMeterEvent(value)).toEqual(event)
    expect(learnSchemas(open(), meterEventValues)([recordOf(value)])).toBeUndefined()
  })

  it('reads records of a newer release', async () => {
    const current = JSON.parse(meterEventValues.schema) as { fields: object[] }
    const newer = {
      ...current,
      fields: [...current.fields, { name: `added_${Date.now()}`, type: 'string', default: '' }],
    }
    const registry = open()
    const id = await registry.idOf(`test-${randomUUID()}`, JSON.stringify(newer))
    const type = meterEventType(newer as unknown as avro.Schema)
    const header = Buffer.alloc(5)
    header.writeUInt32BE(id, 1)
    const value = Buffer.concat([
      header,
      type.toBuffer({ ...event, [newer.fields.at(-1)!['name' as never]]: 'x' }),
    ])
    await learnSchemas(registry, meterEventValues)([recordOf(value)])
    expect(decodeMeterEvent(value)).toEqual(event)
  })

  it('refuses a schema that old releases could not read', async () => {
    const subject = `test-${randomUUID()}`
    await open().idOf(subject, meterEventValues.schema)
    const current = JSON.parse(meterEventValues.schema) as { fields: { name: string }[] }
    const without = { ...current, fields: current.fields.filter(({ name }) => name !== 'id') }
    await expect(open().idOf(subject, JSON.stringify(without))).rejects.toThrow(SchemaRegistryError)
  })

  it('finds no schema for an unknown id', async () => {
    expect(await open().find(2_000_000_000)).toBeUndefined()
    const value = Buffer.from([0, 0x77, 0x35, 0x94, 0, 1, 2, 3])
    await learnSchemas(open(), meterEventValues)([recordOf(value)])
    expect(() => decodeMeterEvent(value)).toThrow('No meter event schema has the id 2000000000')
  })

  it('rejects if the registry does not answer', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(500).end('{"message":"out of order"}')
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const broken = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await expect(broken.find(1)).rejects.toThrow(SchemaRegistryError)
    await expect(broken.idOf('test', meterEventValues.schema)).rejects.toThrow(SchemaRegistryError)
    server.close()
  })
})

it('waits for an id as long as requested', async () => {
  const server = createServer((_request, response) => {
    setTimeout(() => response.end('{"id":7}'), 300)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const slow = createSchemaRegistry({ url }, meterEventValues.typeOptions)
  await expect(slow.idOf('test', meterEventValues.schema, 50)).rejects.toThrow('in 50 ms')
  expect(await slow.idOf('test', meterEventValues.schema, 20_000)).toBe(7)
  server.close()
})

it('can read the schema of this release', () => {
  expect(JSON.parse(meterEventValues.schema)).toEqual(
    meterEventSchemas.get(meterEventValues.embeddedSchemaId),
  )
})
