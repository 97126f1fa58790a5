import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Installation } from './installation.ts'

const paths = [
  '/v1/sdk/usages',
  '/v1/sdk/usages/bulk',
  '/v1/sdk/meter-events',
  '/v1/sdk/meter-events/bulk',
  '/v1/sdk/limits',
]

const ok = '"customerRef":"u","productRef":"prd_1"'
const nested = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)

/** Bodies that every hot route must refuse, with the expected status and message. */
const refusedByAll: readonly [string, string | Uint8Array, number, RegExp][] = [
  ['empty', '', 400, /empty/],
  ['blank', '   ', 400, /not valid JSON/],
  ['no JSON', '{', 400, /not valid JSON/],
  ['two values', '{} {}', 400, /not valid JSON/],
  ['NaN', `{${ok},"units":NaN}`, 400, /not valid JSON/],
  ['a byte order mark', `\uFEFF{${ok}}`, 400, /not valid JSON/],
  ['no UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 400, /UTF-8/],
  ['a surrogate in UTF-8', Uint8Array.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 400, /UTF-8/],
  ['null', 'null', 400, /Validation failed/],
  ['an array', '[]', 400, /Validation failed/],
  ['a number', '1', 400, /Validation failed/],
  ['text', '"x"', 400, /Validation failed/],
  ['an object without the required fields', '{}', 400, /Validation failed/],
  [
    'only a prototype',
    '{"__proto__":{"customerRef":"u","productRef":"p"}}',
    400,
    /Validation failed/,
  ],
  ['ten megabytes', `{${ok},"x":"${'x'.repeat(10_000_000)}"}`, 413, /larger than/],
  ['a million brackets', '['.repeat(1_000_000), 400, /not valid JSON/],
]

/** Single records that the usage routes must refuse. */
const refusedUsages: readonly [string, string][] = [
  ['customerRef that is a number', '{"customerRef":1}'],
  ['customerRef with a length of its own', '{"customerRef":{"length":{"toString":1}}}'],
  ['customerRef that is empty', '{"customerRef":""}'],
  ['customerRef with a lone surrogate', '{"customerRef":"\\ud800"}'],
  ['customerRef with U+0000', '{"customerRef":"a\\u0000"}'],
  ['customerRef of 257 characters', `{"customerRef":"${'x'.repeat(257)}"}`],
  ['units of 1e400', `{${ok},"units":1e400}`],
  ['negative units', `{${ok},"units":-1}`],
  ['units of 100001', `{${ok},"units":100001}`],
  ['half a unit', `{${ok},"units":0.5}`],
  ['units as text', `{${ok},"units":"1"}`],
  ['an unknown outcome', `{${ok},"outcome":"maybe"}`],
  ['an unknown actionType', `{${ok},"actionType":"dance"}`],
  ['a date without a time', `{${ok},"timestamp":"2026-01-01"}`],
  ['no date', `{${ok},"timestamp":"now"}`],
  ['the 30th of February', `{${ok},"timestamp":"2026-02-30T00:00:00Z"}`],
  ['an idempotency key of 257 characters', `{${ok},"idempotencyKey":"${'x'.repeat(257)}"}`],
  ['metadata 50 levels deep', `{${ok},"metadata":${nested(50)}}`],
  ['metadata with __proto__', `{${ok},"metadata":{"__proto__":{"admin":true}}}`],
  ['metadata with constructor', `{${ok},"metadata":{"a":{"constructor":{"prototype":1}}}}`],
  ['metadata with 1e400', `{${ok},"metadata":{"a":1e400}}`],
  ['metadata with a lone surrogate', `{${ok},"metadata":{"a":"\\udfff"}}`],
  [
    'metadata with 65 keys',
    `{${ok},"metadata":{${Array.from({ length: 65 }, (_, index) => `"k${index}":1`).join(',')}}}`,
  ],
  ['metadata of 17 kB', `{${ok},"metadata":{"a":"${'x'.repeat(17_000)}"}}`],
  ['metadata that is an array', `{${ok},"metadata":[]}`],
  ['a negative duration', `{${ok},"duration":-1}`],
]

describe('malformed and hostile bodies', () => {
  let installation: Installation
  let key: string
  beforeAll(async () => {
    installation = await Installation.start()
    key = await installation.createKey()
  })
  afterAll(() => installation.remove())

  const send = (path: string, body: string | Uint8Array, contentType: string) =>
    installation.send(path, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${key}`, 'content-type': contentType },
    })

  const expectRefusal = async (
    path: string,
    body: string | Uint8Array,
    status: number,
    contentType = 'application/json',
  ) => {
    const reply = await send(path, body, contentType)
    expect(reply.status).toBe(status)
    expect(reply.body).toMatchObject({ statusCode: status })
    expect(reply.body['error']).toEqual(expect.any(String))
    expect(reply.body['message']).toEqual(expect.any(String))
    return reply
  }

  describe.each(refusedByAll)('%s', (_, body, status, message) => {
    it.each(paths)('is refused by %s, and nothing is stored', async (path) => {
      const reply = await expectRefusal(path, body, status)
      expect(reply.body['message']).toMatch(message)
      if (reply.body['message'] === 'Validation failed') {
        expect(reply.body['path']).toBe(path)
        expect(reply.body['timestamp']).toMatch(/^\d{4}-\d\d-\d\dT/)
        const [issue] = reply.body['errors'] as Record<string, unknown>[]
        expect(issue).toMatchObject({
          code: expect.any(String) as string,
          message: expect.any(String) as string,
        })
      }
      expect(await installation.stored()).toBe(0)
    })
  })

  it.each(refusedUsages)('%s is refused, alone and in bulk', async (_, record) => {
    await expectRefusal('/v1/sdk/usages', record, 400)
    const bulk = await expectRefusal('/v1/sdk/usages/bulk', `{"events":[{${ok}},${record}]}`, 400)
    const [issue] = bulk.body['errors'] as { path: unknown[] }[]
    expect(issue!.path.slice(0, 2)).toEqual(['events', 1])
    expect(await installation.stored()).toBe(0)
  })

  it.each([
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'Application/X-WWW-Form-Urlencoded; charset=utf-8',
  ])('of type %s are refused with 415', async (contentType) => {
    for (const path of paths) await expectRefusal(path, `{${ok}}`, 415, contentType)
    expect(await installation.stored()).toBe(0)
  })

  it('are accepted with other content types, repeated keys, unknown fields and prototypes beside the known fields', async () => {
    const accepted: readonly [string, string][] = [
      [`{${ok}}`, 'text/plain'],
      [`{${ok}}`, 'application/json; charset=utf-8'],
      ['{"customerRef":"first","customerRef":"last"}', 'application/json'],
      [`{${ok},"__proto__":{"units":5},"constructor":1,"more":{"a":[1]}}`, 'application/json'],
      [`{${ok},"metadata":${nested(8)}}`, 'application/json'],
      ['{"customerRef":"😀"}', 'application/json'],
    ]
    for (const [body, contentType] of accepted) {
      expect((await send('/v1/sdk/usages', body, contentType)).status).toBe(200)
    }
    const events = await installation.events()
    expect(events.map((event) => event.customerRef).sort()).toEqual([
      'last',
      'u',
      'u',
      'u',
      'u',
      '😀',
    ])
    expect(new Set(events.map((event) => event.value))).toEqual(new Set([1_000_000]))
  })

  it('do not increase the memory of the process', async () => {
    const body = Buffer.alloc(10_000_000, 'x')
    const sendMany = async (times: number): Promise<void> => {
      for (let index = 0; index < times; index++) {
        await expectRefusal('/v1/sdk/usages', body, 413)
      }
    }
    await sendMany(20)
    await sleep(50)
    const before = process.memoryUsage().rss
    await sendMany(60)
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
  })
})
