import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Installation, partitionCount, providerId } from './installation.ts'

const usages = '/v1/sdk/usages'
const usagesBulk = '/v1/sdk/usages/bulk'
const meterEvents = '/v1/sdk/meter-events'
const meterEventsBulk = '/v1/sdk/meter-events/bulk'

describe('recording usage', () => {
  let installation: Installation
  let key: string
  beforeEach(async () => {
    installation = await Installation.start()
    key = await installation.createKey()
  })
  afterEach(() => installation.remove())

  describe('one usage call', () => {
    it('is in the log when it is answered', async () => {
      const timestamp = new Date(Date.now() - 60_000).toISOString()
      const reply = await installation.post(usages, key, {
        customerRef: 'user-1',
        units: 3,
        actionType: 'email',
        purchaseRef: 'pur_1',
        description: 'three mails',
        duration: 12.5,
        metadata: { action: 'requests' },
        timestamp,
        unknown: 'dropped',
      })
      expect(reply.status).toBe(200)
      const reference = reply.body['reference'] as string
      expect(reference).toMatch(/^usage_[0-9A-HJKMNP-TV-Z]{26}$/)
      expect(reply.body).toEqual({
        success: true,
        reference,
        creditDebit: { debited: false, reason: 'no_product_ref' },
      })
      const [event, ...others] = await installation.events()
      expect(others).toEqual([])
      expect(event).toMatchObject({
        id: reference,
        providerId,
        customerRef: 'user-1',
        meterName: 'requests',
        value: 3_000_000,
        timestamp: Date.parse(timestamp),
        productRef: null,
        purchaseRef: 'pur_1',
        outcome: 'success',
        source: 'usages',
        idempotencyKey: null,
      })
      expect(JSON.parse(event!.properties)).toEqual({
        outcome: 'success',
        actionType: 'email',
        purchaseRef: 'pur_1',
        description: 'three mails',
        duration: 12.5,
        metadata: { action: 'requests' },
      })
    })

    it.each(['paywall', 'fail'])(
      'with outcome %s is stored and its response mentions no debit',
      async (outcome) => {
        const reply = await installation.post(usages, key, { customerRef: 'u', outcome })
        expect(reply.body).toEqual({ success: true, reference: expect.any(String) as string })
        expect(await installation.events()).toMatchObject([{ outcome }])
      },
    )

    it('for an unknown customer is stored too', async () => {
      const body = { customerRef: 'u', productRef: 'prd_1' }
      const reply = await installation.post(usages, key, body)
      expect(reply.body['creditDebit']).toEqual({ debited: false, reason: 'customer_not_found' })
      expect(await installation.stored()).toBe(1)
    })

    it('is stored only in the environment of its key', async () => {
      const live = await installation.createKey('live')
      await installation.post(usages, live, { customerRef: 'u', environment: 'sandbox' })
      expect([await installation.stored('sandbox'), await installation.stored('live')]).toEqual([
        0, 1,
      ])
    })

    it.each([
      [-30 * 24 * 3600 + 5, 200],
      [-30 * 24 * 3600 - 5, 400],
      [24 * 3600 - 5, 200],
      [24 * 3600 + 5, 400],
    ])('with a timestamp %i s from now is answered with %i', async (seconds, status) => {
      const timestamp = new Date(Date.now() + seconds * 1000).toISOString()
      const reply = await installation.post(usages, key, { customerRef: 'u', timestamp })
      expect(reply.status).toBe(status)
      expect(await installation.stored()).toBe(status === 200 ? 1 : 0)
    })
  })

  describe('an idempotency key', () => {
    const body = { customerRef: 'u', idempotencyKey: 'once' }

    it('in a hundred parallel calls makes one record and one reference', async () => {
      const replies = await Promise.all(
        Array.from({ length: 100 }, () => installation.post(usages, key, body)),
      )
      expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]))
      expect(new Set(replies.map((reply) => reply.body['reference'])).size).toBe(1)
      expect(await installation.stored()).toBe(1)
      const firsts = replies.filter(
        (reply) =>
          JSON.stringify(reply.body['creditDebit']) ===
          '{"debited":false,"reason":"no_product_ref"}',
      )
      expect(firsts.length).toBe(1)
    })

    it('is known after a restart, before a projection has applied its record', async () => {
      const first = await installation.post(usages, key, body)
      await installation.restart()
      const second = await installation.post(usages, key, body)
      expect(second.body).toEqual({
        success: true,
        reference: first.body['reference'],
        creditDebit: { debited: false, reason: 'duplicate' },
      })
      expect(await installation.stored()).toBe(1)
    })

    it('is known by its deduplication mark once the counters projection has applied its record', async () => {
      const first = await installation.post(usages, key, body)
      for (let partition = 0; partition < partitionCount; partition++) {
        const nextOffset = await installation.log.head('tollgate.usage.sandbox', partition)
        if (nextOffset === 0) continue
        await installation.hotState.apply({
          space: 'sandbox',
          partition,
          expectedOffset: 0,
          nextOffset,
          marks: [{ id: first.body['reference'] as string, offset: 0, receivedAtMs: Date.now() }],
          increments: [],
        })
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
      const second = await installation.post(usages, key, body)
      expect(second.body['creditDebit']).toEqual({ debited: false, reason: 'duplicate' })
      expect(await installation.stored()).toBe(1)
    })

    it('is scoped to its customer', async () => {
      await installation.post(usages, key, body)
      await installation.post(usages, key, { ...body, customerRef: 'other' })
      expect(await installation.stored()).toBe(2)
    })

    it('is shared by single and bulk calls', async () => {
      const single = await installation.post(usages, key, body)
      const bulk = await installation.post(usagesBulk, key, {
        events: [
          body,
          { customerRef: 'u', idempotencyKey: 'new' },
          { customerRef: 'u', idempotencyKey: 'new' },
        ],
      })
      expect(bulk.body['inserted']).toBe(1)
      const results = bulk.body['results'] as { reference: string; creditDebit: unknown }[]
      const duplicate = { debited: false, reason: 'duplicate' }
      expect(results[0]).toEqual({ reference: single.body['reference'], creditDebit: duplicate })
      expect(results[1]!.creditDebit).toEqual({ debited: false, reason: 'no_product_ref' })
      expect(results[2]).toEqual({ reference: results[1]!.reference, creditDebit: duplicate })
      expect(await installation.stored()).toBe(2)
    })

    it('in many concurrent bulk calls makes one record', async () => {
      const lists = Array.from({ length: 20 }, (_, index) => ({
        events: Array.from({ length: 10 }, (_, at) => ({
          customerRef: `u${(at + index) % 10}`,
          idempotencyKey: `k${(at + index) % 10}`,
        })),
      }))
      const replies = await Promise.all(
        lists.map((list) => installation.post(usagesBulk, key, list)),
      )
      const inserted = replies.reduce((sum, reply) => sum + (reply.body['inserted'] as number), 0)
      expect(inserted).toBe(10)
      expect(await installation.stored()).toBe(10)
    })
  })

  describe('a bulk call', () => {
    it('with one invalid item stores nothing and names the item', async () => {
      const events = Array.from({ length: 50 }, () => ({ customerRef: 'u', units: 1 }))
      events[37] = { customerRef: 'u', units: -1 }
      const reply = await installation.post(usagesBulk, key, { events })
      expect(reply.status).toBe(400)
      expect(reply.body).toMatchObject({ message: 'Validation failed', path: usagesBulk })
      expect(reply.body['errors']).toMatchObject([{ path: ['events', 37, 'units'] }])
      expect(await installation.stored()).toBe(0)
    })

    it('with one timestamp outside the window stores nothing and names the item', async () => {
      const records = [
        { customerRef: 'u' },
        { customerRef: 'u', timestamp: '2001-01-01T00:00:00Z' },
      ]
      const reply = await installation.post(usagesBulk, key, { records })
      expect(reply.status).toBe(400)
      expect(reply.body['errors']).toMatchObject([{ path: ['records', 1, 'timestamp'] }])
      expect(await installation.stored()).toBe(0)
    })

    it.each([usagesBulk, meterEventsBulk])(
      'accepts 1000 items under either name (%s)',
      async (path) => {
        for (const listName of ['events', 'records']) {
          const items = Array.from({ length: 1000 }, (_, index) => ({ customerRef: `u${index}` }))
          const reply = await installation.post(path, key, { [listName]: items })
          expect(reply.body).toMatchObject({ success: true, inserted: 1000 })
          const more = await installation.post(path, key, { [listName]: [...items, items[0]] })
          expect(more.status).toBe(400)
        }
        expect(await installation.stored()).toBe(2000)
      },
    )

    it.each([{ events: [] }, { records: [] }, {}, { events: {} }])('refuses %j', async (body) => {
      for (const path of [usagesBulk, meterEventsBulk]) {
        expect((await installation.post(path, key, body)).status).toBe(400)
      }
    })
  })

  describe('meter events', () => {
    it('count for the meter that they name, with 6 decimals', async () => {
      await installation.publishMeters({ tokens: 'active' })
      const reply = await installation.post(meterEvents, key, {
        customerRef: 'u',
        meterName: 'tokens',
        value: 0.000_001,
        productRef: 'prd_1',
        properties: { model: 'x', outcome: 'fail' },
      })
      expect(reply).toMatchObject({ status: 200, body: { success: true } })
      expect(await installation.events()).toMatchObject([
        {
          meterName: 'tokens',
          value: 1,
          productRef: 'prd_1',
          outcome: 'fail',
          source: 'meter-events',
          properties: '{"model":"x","outcome":"fail"}',
        },
      ])
    })

    it('are refused for unknown and archived meters, in bulk with their positions', async () => {
      await installation.publishMeters({ old: 'archived' })
      const unknown = await installation.post(meterEvents, key, {
        customerRef: 'u',
        meterName: 'no',
      })
      expect(unknown.status).toBe(400)
      expect(unknown.body['errors']).toMatchObject([
        { path: ['meterName'], message: 'Unknown meter no' },
      ])
      const bulk = await installation.post(meterEventsBulk, key, {
        records: [{ customerRef: 'u' }, { customerRef: 'u', meterName: 'old' }],
      })
      expect(bulk.status).toBe(400)
      expect(bulk.body['errors']).toMatchObject([
        { path: ['records', 1, 'meterName'], message: 'Meter old is archived' },
      ])
      expect(await installation.stored()).toBe(0)
    })

    it('are accepted for a meter that was published a moment ago', async () => {
      await installation.publishMeters({})
      await installation.post(meterEvents, key, { customerRef: 'u', meterName: 'fresh' })
      await installation.publishMeters({ fresh: 'active' })
      const reply = await installation.post(meterEvents, key, {
        customerRef: 'u',
        meterName: 'fresh',
      })
      expect(reply.status).toBe(200)
    })

    it.each([-1, 0.000_000_1, Infinity, '1', null, 9_000_000_001])(
      'refuse the value %s',
      async (value) => {
        const text = `{"customerRef":"u","value":${value === Infinity ? '1e400' : JSON.stringify(value)}}`
        expect((await installation.post(meterEvents, key, text)).status).toBe(400)
        expect(await installation.stored()).toBe(0)
      },
    )
  })
})

describe('a log that refuses appends', () => {
  it('causes a 503 with Retry-After, and nothing is stored in part', async () => {
    let isFull = true
    const refuse = (): Promise<never> => Promise.reject(new EventLogUnavailableError('disk full'))
    const installation = await Installation.start({
      log: (log): EventLog =>
        new Proxy(log, {
          get: (target, name) => {
            if (isFull && (name === 'append' || name === 'appendAll')) return refuse
            const value: unknown = Reflect.get(target, name)
            return typeof value === 'function' ? (value.bind(target) as unknown) : value
          },
        }),
    })
    try {
      const key = await installation.createKey()
      const keyed = { customerRef: 'u', idempotencyKey: 'k' }
      for (const body of [{ customerRef: 'u' }, keyed]) {
        const reply = await installation.post(usages, key, body)
        expect(reply.status).toBe(503)
        expect(reply.headers.get('retry-after')).toBe('1')
        expect(reply.body).toMatchObject({ statusCode: 503, error: 'Service Unavailable' })
      }
      const bulk = await installation.post(usagesBulk, key, { events: [keyed] })
      expect(bulk.status).toBe(503)
      isFull = false
      // The failed call has not used the key.
      const retried = await installation.post(usages, key, keyed)
      expect(retried.body['creditDebit']).toEqual({ debited: false, reason: 'no_product_ref' })
      expect(await installation.stored()).toBe(1)
    } finally {
      await installation.remove()
    }
  })

  it('that is slow gets no more than the bounded number of records at a time', async () => {
    const installation = await Installation.start({
      settings: { TOLLGATE_APPENDS_IN_FLIGHT_MAX: '10' },
    })
    try {
      const key = await installation.createKey()
      await installation.post(usages, key, { customerRef: 'u' })
      const events = Array.from({ length: 11 }, () => ({ customerRef: 'u' }))
      const reply = await installation.post(usagesBulk, key, { events })
      expect(reply.status).toBe(503)
      expect(await installation.stored()).toBe(1)
      const fits = await installation.post(usagesBulk, key, { events: events.slice(1) })
      expect(fits.status).toBe(200)
    } finally {
      await installation.remove()
    }
  })
})
