import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Installation } from './installation.ts'

const usages = '/v1/sdk/usages'
const usagesBulk = '/v1/sdk/usages/bulk'
const meterEvents = '/v1/sdk/meter-events'
const meterEventsBulk = '/v1/sdk/meter-events/bulk'

describe('idempotency keys', () => {
  let installation: Installation
  let key: string
  beforeEach(async () => {
    installation = await Installation.start()
    key = await installation.createKey()
  })
  afterEach(() => installation.remove())

  const send = (header: string, body: object, path = usages) => {
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      'idempotency-key': header,
    }
    return installation.send(path, { method: 'POST', body: JSON.stringify(body), headers })
  }

  it('are read from the header of a usage call whose body has none', async () => {
    const first = await send('once', { customerRef: 'u' })
    const again = await send('once', { customerRef: 'u', idempotencyKey: '' })
    const named = await send('other', { customerRef: 'u', idempotencyKey: 'once' })
    for (const repeated of [again, named]) {
      expect(repeated.body).toMatchObject({
        reference: first.body['reference'] as string,
        creditDebit: { debited: false, reason: 'duplicate' },
      })
    }
    expect((await send('another', { customerRef: 'u' })).status).toBe(200)
    expect(await installation.stored()).toBe(2)
    expect((await send('k'.repeat(256), { customerRef: 'u' })).status).toBe(200)
    const long = await send('k'.repeat(257), { customerRef: 'u' })
    expect([long.status, long.body['message']]).toEqual([
      400,
      'Idempotency-Key must be 1 to 256 printable ASCII characters',
    ])
    expect(await installation.stored()).toBe(3)
  })

  it.each([
    [usagesBulk, 'events', {}],
    [usagesBulk, 'records', {}],
    [meterEventsBulk, 'events', { meterName: 'pages', value: 2 }],
    [meterEventsBulk, 'records', { meterName: 'requests' }],
  ])(
    'are read from the header of %s for each of its %s without a key',
    async (path, list, fields) => {
      await installation.publishMeters({ pages: 'active' })
      const item = { customerRef: 'u', ...fields }
      const items = [
        item,
        item,
        { ...item, idempotencyKey: 'own' },
        { ...item, idempotencyKey: '' },
      ]
      const insert = async (header: string, length = items.length): Promise<unknown> => {
        const { body } = await send(header, { [list]: items.slice(0, length) }, path)
        return body['inserted']
      }
      expect(await insert('batch', 3)).toBe(3)
      expect(await insert('batch')).toBe(1)
      expect(await insert('batch')).toBe(0)
      expect(await insert('other')).toBe(3)
      expect(await installation.stored()).toBe(7)
      const long = await send('k'.repeat(257), { [list]: items }, path)
      expect(long.status).toBe(400)
    },
  )

  it('of meter events belong to a customer and are shared with usage calls', async () => {
    const event = { customerRef: 'u', idempotencyKey: 'once' }
    for (let times = 0; times < 2; times += 1) {
      const reply = await installation.post(meterEvents, key, { ...event, value: 2 })
      expect(reply).toMatchObject({ status: 200, body: { success: true } })
    }
    const bulk = [event, { ...event, idempotencyKey: 'next' }, { customerRef: 'u' }]
    const sent = await installation.post(meterEventsBulk, key, { events: bulk })
    expect(sent.body).toEqual({ success: true, inserted: 2 })
    const usage = await installation.post(usages, key, event)
    expect(usage.body['creditDebit']).toEqual({ debited: false, reason: 'duplicate' })
    const other = await installation.post(meterEvents, key, { ...event, customerRef: 'v' })
    expect(other.status).toBe(200)
    const events = await installation.events()
    expect(events.map(({ customerRef, idempotencyKey }) => [customerRef, idempotencyKey])).toEqual(
      expect.arrayContaining([
        ['u', 'once'],
        ['u', 'next'],
        ['u', null],
        ['v', 'once'],
      ]),
    )
    expect(events).toHaveLength(4)
  })
})
