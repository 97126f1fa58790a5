import { describe, expect, it } from 'vitest'
import { nameOfMessageId, readMessage, type BusMessage } from './bus-message.ts'

const message = (body: unknown, more: Partial<BusMessage> = {}): BusMessage => ({
  subject: 'billing.meter.record',
  data: Buffer.from(JSON.stringify(body)),
  name: 'nats:STREAM:17:3',
  sentAtMs: Date.UTC(2026, 5, 1),
  ...more,
})

const keysOf = (read: ReturnType<typeof readMessage>) =>
  read?.map((item) => (item.kind === 'item' ? item.input.idempotencyKey : item.reason))

describe('the idempotency key of an item', () => {
  it("is the publisher's key, or otherwise the name of the message with the item's index", () => {
    const events = [
      { userId: 'u', properties: { idempotencyKey: 'own' } },
      { userId: 'u', idempotencyKey: 'beside' },
      { userId: 'u', idempotencyKey: 'beside', properties: { idempotencyKey: 'own' } },
      { userId: 'u', properties: { idempotencyKey: '' } },
      { userId: 'u' },
    ]
    const bulk = message({ events }, { subject: 'billing.meter.recordBulk' })
    expect(keysOf(readMessage(bulk))).toEqual([
      'own',
      'beside',
      'own',
      'nats:STREAM:17:3:3',
      'nats:STREAM:17:3:4',
    ])
  })

  it('differs for long message ids with the same beginning', () => {
    const keyOf = (messageId: string) =>
      keysOf(readMessage(message({ userId: 'u' }, { name: nameOfMessageId(messageId) })))![0]!
    const start = 'm'.repeat(300)
    expect(keyOf(`${start}1`)).toBe(keyOf(`${start}1`))
    expect(keyOf(`${start}1`)).not.toBe(keyOf(`${start}2`))
    expect(keyOf(start).length).toBeLessThanOrEqual(256)
  })
})

it('gives an item without a timestamp the time of its message', () => {
  const timeOf = (item: object) => {
    const [read] = readMessage(message({ userId: 'u', ...item }))!
    return read!.kind === 'item' ? read!.input.timestamp : undefined
  }
  expect(timeOf({})).toBe('2026-06-01T00:00:00.000Z')
  expect(timeOf({ timestamp: '2026-05-31T23:00:00Z' })).toBe('2026-05-31T23:00:00Z')
})
