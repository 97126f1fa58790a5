import { ownMetersPath } from '@tollgate/schemas/http/own-key'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { metersDocumentKey } from '@tollgate/schemas/hot-state/documents'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Installation, providerId } from './installation.ts'

const eventsPath = '/v1/events'
const batchPath = '/v1/events/batch'
const usages = '/v1/sdk/usages'

const call = {
  specversion: '1.0',
  id: 'call-1',
  source: '/chat',
  type: 'llm.call',
  subject: 'user-1',
  data: { model: 'large', usage: { input: 812, output: '240.5' } },
}

let installation: Installation
let key: string

beforeEach(async () => {
  installation = await Installation.start()
  key = await installation.createKey()
  await installation.publishReadings({
    input: { value: ['/usage/input'], dimensions: ['model'] },
    output: { value: ['/usage/output'], dimensions: ['/usage/input'] },
    calls: { aggregation: 'count', where: { model: ['large'] } },
    models: { aggregation: 'unique', value: ['/model'] },
    other: { type: 'image' },
  })
})
afterEach(() => installation.remove())

async function onlyEvent(): Promise<MeterEvent> {
  const [event, ...others] = await installation.events()
  expect(others).toEqual([])
  return event!
}

describe('POST /v1/events', () => {
  it('records one event with everything that meters count of it', async () => {
    const time = new Date(Date.now() - 60_000).toISOString()
    const attributes = { productref: 'prd_1', purchaseref: 'pur_1', reservationid: 'rsv_1' }
    const reply = await installation.post(eventsPath, key, {
      ...call,
      ...attributes,
      time,
      traceparent: 'dropped',
    })
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        success: true,
        reference: expect.stringMatching(/^usage_/) as string,
        counts: [
          { meterName: 'input', value: 812 },
          { meterName: 'output', value: 240.5 },
          { meterName: 'calls', value: 1 },
          { meterName: 'models', value: 1 },
        ],
        creditDebit: { debited: false, reason: 'customer_not_found' },
      },
    ])
    expect(await onlyEvent()).toMatchObject({
      id: reply.body['reference'],
      customerRef: 'user-1',
      meterName: '',
      value: 0,
      timestamp: Date.parse(time),
      productRef: 'prd_1',
      purchaseRef: 'pur_1',
      reservationId: 'rsv_1',
      outcome: 'success',
      source: 'events',
      idempotencyKey: 'ce:5:/chatcall-1',
      eventType: 'llm.call',
      properties: JSON.stringify(call.data),
      dimensions: { model: 'large', '/usage/input': '812' },
      counts: [
        { meterName: 'input', value: 812_000_000, text: null },
        { meterName: 'output', value: 240_500_000, text: null },
        { meterName: 'calls', value: 1_000_000, text: null },
        { meterName: 'models', value: 1_000_000, text: 'large' },
      ],
    })
  })

  it('counts an event with the same id and source once', async () => {
    const first = await installation.post(eventsPath, key, call)
    const again = await installation.post(eventsPath, key, call)
    expect(again.body).toEqual({
      success: true,
      reference: first.body['reference'],
      counts: [],
      creditDebit: { debited: false, reason: 'duplicate' },
    })
    // The parts are kept apart although their texts joined are the same.
    await installation.post(eventsPath, key, { ...call, source: '/chatcall', id: '-1' })
    await installation.post(eventsPath, key, { ...call, subject: 'user-2' })
    expect(await installation.stored()).toBe(3)
  })

  it('accepts long ids and sources, and keeps them apart', async () => {
    const long = { ...call, id: 'i'.repeat(512), source: `/${'s'.repeat(2_000)}` }
    const references = new Set<unknown>()
    for (const event of [long, long, { ...long, id: `${'i'.repeat(511)}j` }]) {
      const reply = await installation.post(eventsPath, key, event)
      references.add(reply.body['reference'])
    }
    expect(references.size).toBe(2)
    for (const { idempotencyKey } of await installation.events()) {
      expect(idempotencyKey).toMatch(/^ce:sha256:[0-9a-f]{64}$/)
    }
  })

  it('stores events that no meter counts and events without success, and reports no counts', async () => {
    for (const event of [
      { ...call, type: 'unknown' },
      { ...call, id: '2', data: undefined, type: 'image', outcome: 'fail' },
    ]) {
      const reply = await installation.post(eventsPath, key, event)
      expect([reply.status, reply.body['counts']]).toEqual([200, []])
    }
    const counts = (await installation.events()).map((event) => event.counts.length)
    expect(counts.sort()).toEqual([0, 1])
  })

  it('accepts the content types of CloudEvents', async () => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/cloudevents+json',
    }
    const body = JSON.stringify(call)
    const reply = await installation.send(eventsPath, { method: 'POST', headers, body })
    expect(reply.status).toBe(200)
  })

  it.each([
    ['without a customer', { subject: undefined }, ['subject']],
    ['of another version', { specversion: '0.3' }, ['specversion']],
    ['with text as data', { data: 'x' }, ['data']],
    ['with binary data', { data_base64: 'aa' }, ['data_base64']],
    ['with data that is not JSON', { datacontenttype: 'text/xml' }, ['datacontenttype']],
    ['from the future', { time: '2999-01-01T00:00:00Z' }, ['time']],
    [
      'with a value that a meter cannot use',
      { data: { usage: { input: 'x' } } },
      ['data', 'usage', 'input'],
    ],
    [
      'with a dimension that is too long',
      { data: { usage: { input: 1 }, model: 'x'.repeat(257) } },
      ['data', 'model'],
    ],
  ])('refuses an event %s', async (_, fields, path) => {
    const reply = await installation.post(eventsPath, key, { ...call, ...fields })
    expect([reply.status, (reply.body['errors'] as { path: string[] }[])[0]!.path]).toEqual([
      400,
      path,
    ])
    expect(await installation.stored()).toBe(0)
  })

  it('refuses a key without the scope of recording', async () => {
    const other = await installation.createKey('sandbox', null, providerId, ['read'] as never)
    expect((await installation.post(eventsPath, other, call)).status).toBe(403)
  })
})

describe('POST /v1/events/batch', () => {
  it('records all events, and each id and source once', async () => {
    const events = [call, { ...call, id: 'call-2', type: 'image' }, call]
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/cloudevents-batch+json',
    }
    const reply = await installation.send(batchPath, {
      method: 'POST',
      headers,
      body: JSON.stringify(events),
    })
    const results = reply.body['results'] as { reference: string; counts: unknown[] }[]
    expect([
      reply.status,
      reply.body['inserted'],
      results.map(({ counts }) => counts.length),
    ]).toEqual([200, 2, [4, 1, 0]])
    expect(results[2]!.reference).toBe(results[0]!.reference)
    expect(await installation.stored()).toBe(2)
  })

  it('records nothing if one event is invalid, and names it', async () => {
    const bad = { ...call, id: '2', data: { usage: { output: {} } } }
    const reply = await installation.post(batchPath, key, [call, bad])
    expect([reply.status, reply.body['errors']]).toMatchObject([
      400,
      [{ path: [1, 'data', 'usage', 'output'] }],
    ])
    const many = Array.from({ length: 1_001 }, (_, at) => ({ ...call, id: String(at) }))
    for (const body of [many, [], call]) {
      expect((await installation.post(batchPath, key, body)).status).toBe(400)
    }
    expect(await installation.stored()).toBe(0)
  })
})

describe('other usage', () => {
  beforeEach(() =>
    installation.publishReadings({
      mails: { type: 'requests', where: { actionType: ['email'] } },
      characters: { type: 'requests', value: ['/metadata/characters'], dimensions: ['outcome'] },
      pages: { type: 'pages_read', value: ['/pages'] },
    }),
  )

  it('counts a usage call on its own meter and on those that read it', async () => {
    const body = { customerRef: 'u', units: 2, actionType: 'email', metadata: { characters: 12 } }
    for (const [path, sent] of [
      [usages, body],
      [`${usages}/bulk`, { events: [body] }],
    ] as const) {
      const reply = await installation.post(path, key, sent)
      expect(reply.status).toBe(200)
      expect(reply.body).not.toHaveProperty('counts')
    }
    for (const event of await installation.events()) {
      expect(event).toMatchObject({
        meterName: 'requests',
        value: 2_000_000,
        eventType: null,
        dimensions: { outcome: 'success' },
        counts: [
          { meterName: 'mails', value: 2_000_000 },
          { meterName: 'characters', value: 12_000_000 },
        ],
      })
    }
    expect(await installation.stored()).toBe(2)
    const bad = { ...body, metadata: { characters: 'many' } }
    const reply = await installation.post(`${usages}/bulk`, key, { events: [body, bad] })
    expect([reply.status, reply.body['errors']]).toMatchObject([
      400,
      [{ path: ['events', 1, 'metadata', 'characters'] }],
    ])
  })

  it('counts a meter event on meters that read its meter, which cannot be named themselves', async () => {
    const properties = { pages: '3' }
    const named = { customerRef: 'u', meterName: 'pages', properties }
    const refused = await installation.post('/v1/sdk/meter-events', key, named)
    expect([refused.status, refused.body['errors']]).toMatchObject([
      400,
      [{ path: ['meterName'], message: expect.stringContaining('reads events') as string }],
    ])
    const meters = {
      pages_read: { reference: 'mtr_1', status: 'active' },
      pages: {
        reference: 'mtr_2',
        status: 'active',
        reads: {
          aggregation: 'sum',
          type: 'pages_read',
          where: {},
          value: ['/pages'],
          dimensions: [],
        },
      },
    }
    const document = metersDocumentKey('sandbox', providerId)
    await installation.hotState.putDocument(document, JSON.stringify({ meters }))
    const body = { customerRef: 'u', meterName: 'pages_read', properties }
    expect((await installation.post('/v1/sdk/meter-events', key, body)).status).toBe(200)
    const bulk = await installation.post('/v1/sdk/meter-events/bulk', key, { records: [body] })
    expect(bulk.status).toBe(200)
    for (const event of await installation.events()) {
      expect(event).toMatchObject({
        meterName: 'pages_read',
        value: 1_000_000,
        counts: [{ meterName: 'pages', value: 3_000_000 }],
      })
    }
    expect(await installation.stored()).toBe(2)
  })
})

describe('while the meters cannot be read', () => {
  let isAway: boolean

  beforeEach(async () => {
    isAway = false
    await installation.restart({
      settings: { TOLLGATE_CACHE_STALE_MS: '1' },
      hotState: (hotState) =>
        new Proxy(hotState, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name, target)
            if (typeof value !== 'function') return value
            if (name !== 'readDocument') return value.bind(target) as unknown
            return async (document: string) => {
              if (isAway && document.startsWith('meters/')) throw new Error('away')
              return target.readDocument(document)
            }
          },
        }),
    })
  })

  it('the last known meters decide what events count', async () => {
    await installation.post(eventsPath, key, call)
    isAway = true
    await new Promise((resolve) => setTimeout(resolve, 200))
    const reply = await installation.post(eventsPath, key, { ...call, id: '2' })
    expect([reply.status, (reply.body['counts'] as unknown[]).length]).toEqual([200, 4])
  })

  it('the control plane is asked for meters that are not known', async () => {
    isAway = true
    const reads = {
      aggregation: 'count',
      type: 'llm.call',
      where: {},
      value: [],
      dimensions: [],
    }
    const asked: string[] = []
    installation.controlPlane = (request, response) => {
      asked.push(`${request.url} ${request.headers.authorization}`)
      const meters = { calls: { reference: 'mtr_1', status: 'active', reads } }
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ meters }))
    }
    const replies = await Promise.all([
      installation.post(eventsPath, key, call),
      installation.post(eventsPath, key, { ...call, id: '2' }),
    ])
    for (const { body } of replies)
      expect(body['counts']).toEqual([{ meterName: 'calls', value: 1 }])
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect((await installation.post(usages, key, { customerRef: 'u' })).status).toBe(200)
    expect(asked).toEqual([`${ownMetersPath} Bearer ${key}`])
  })

  it('refuses usage and stores nothing while the meters are unknown', async () => {
    isAway = true
    for (const [path, body] of [
      [eventsPath, call],
      [batchPath, [call]],
      [usages, { customerRef: 'u' }],
    ] as const) {
      const reply = await installation.post(path, key, body)
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1'])
    }
    expect(await installation.stored()).toBe(0)
    isAway = false
    expect((await installation.post(usages, key, { customerRef: 'u' })).status).toBe(200)
  })
})
