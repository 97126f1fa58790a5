import { errorCodes } from '@tollgate/schemas/http/error-codes'
import { requestIdPattern } from '@tollgate/schemas/http/request-id'
import { afterAll, describe, expect, test } from 'vitest'
import { catalogRows } from './catalog-rows.ts'
import { customerRows } from './customer-rows.ts'
import { purchaseRows } from './purchase-rows.ts'
import { usageRows } from './usage-rows.ts'
import { webhookRows } from './webhook-rows.ts'
import { startWorld } from './world.ts'
import { wrongCalls, type WrongCall } from './wrong-calls.ts'

/* Calls every operation through the public address, and checks its answers and refusals. */

/** The rows are called one after the other in the same world. */
const rows = [...customerRows, ...catalogRows, ...purchaseRows, ...usageRows, ...webhookRows]

const world = await startWorld()
afterAll(() => world.stack.stop())

const titled = rows.map(([row, body, status, answer]) => {
  const title = `${row} ${body === undefined ? '' : JSON.stringify(body)}: ${status}`
  return { title, row, body, status, answer }
})

test.each(titled)('$title', async ({ row, body, status, answer }) => {
  const given = await world.call(row, body)
  expect({ status: given.status, body: given.body }).toMatchObject({
    status,
    body: world.filled(answer),
  })
  if (status >= 400) {
    const { code, requestId } = given.body as { code: string; requestId: string }
    expect(Object.keys(errorCodes)).toContain(code)
    expect(requestId).toMatch(requestIdPattern)
  }
})

/** Sends the request without changes. Returns the answer with its parsed JSON body. */
async function send(wrong: Omit<WrongCall, 'status' | 'code' | 'message'>) {
  const [method = '', target = ''] = fill(wrong.call).split(' ')
  const { authorization = `Bearer ${world.key}`, headers, body } = wrong
  const response = await fetch(`${world.stack.baseUrl}${target}`, {
    method,
    headers: {
      ...(authorization === '' ? {} : { authorization: fill(authorization) }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? fill(body) : body }),
  })
  const text = await response.text()
  return { response, body: JSON.parse(text) as Record<string, unknown> }
}

const fill = (text: string): string => world.filled(text) as string

describe('an invalid request', () => {
  const counted = wrongCalls.map((wrong, index) => {
    const { call, body, authorization = '', status, code } = wrong
    const shown = body === undefined ? '' : String(body).slice(0, 40)
    const key = authorization.slice(0, 20)
    return { title: `${index + 1}. ${call} ${shown} ${key}: ${status} ${code}`, wrong }
  })

  test.each(counted)('$title', async ({ wrong }) => {
    const { response, body } = await send(wrong)
    const { status, code, message, allow } = wrong
    expect({
      status: response.status,
      ...{ statusCode: body['statusCode'], code: body['code'], message: body['message'] },
      allow: response.headers.get('allow') ?? undefined,
    }).toEqual({ status, statusCode: status, code, message, allow })
    expect(errorCodes[code].statuses).toContain(status)
    expect(body['requestId']).toMatch(requestIdPattern)
    expect(body['requestId']).toBe(response.headers.get('x-request-id'))
  })
})

describe('the request id', () => {
  const usages = { call: 'POST /v1/sdk/usages', body: '{"customerRef":"u"}' }

  test.each([usages, { call: 'GET /v1/sdk/products' }])(
    'is in every response of $call',
    async (call) => {
      const own = await send({ ...call, headers: { 'x-request-id': 'mine-1' } })
      expect([own.response.status, own.response.headers.get('x-request-id')]).toEqual([
        200,
        'mine-1',
      ])
      for (const given of ['', 'a b', 'a'.repeat(129), '"\\']) {
        const { response } = await send({ ...call, headers: { 'x-request-id': given } })
        expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{24}$/)
      }
    },
  )

  test("is the client's id in errors of the control plane", async () => {
    const { response, body } = await send({
      call: 'POST /v1/sdk/limits',
      headers: { 'x-request-id': 'mine-2' },
      body: '{"customerRef":"nobody","productRef":"{productRef}"}',
    })
    expect([response.headers.get('x-request-id'), body['requestId']]).toEqual(['mine-2', 'mine-2'])
  })
})

describe('an unknown field or parameter', () => {
  const rows: readonly (readonly [string, object | undefined, string | null])[] = [
    [
      'POST /v1/sdk/usages',
      { customerRef: 'u', unit: 2 },
      'unknown_field;name="unit";nearest="units"',
    ],
    ['POST /v1/sdk/usages', { customerRef: 'u', metadata: { any: 1 } }, null],
    ['POST /v1/sdk/usages?unit=1', { customerRef: 'u' }, 'unknown_parameter;name="unit"'],
    ['POST /v1/sdk/usages?unit=', { customerRef: 'u' }, null],
    [
      'POST /v1/sdk/usages/bulk',
      {
        events: [
          { customerRef: 'u' },
          { customerRef: 'u', 'ünit"': 1 },
          { customerRef: 'u', x: 1 },
        ],
      },
      'unknown_field;name="events[].%C3%BCnit%22", unknown_field;name="events[].x"',
    ],
    [
      'POST /v1/sdk/products',
      { name: 'Warned', descripton: 'x', config: { own: 1 } },
      'unknown_field;name="descripton";nearest="description"',
    ],
    ['GET /v1/sdk/products?limt=1', undefined, 'unknown_parameter;name="limt";nearest="limit"'],
  ]

  test.each(rows)('is accepted with a warning: %s %j', async (call, given, warning) => {
    const body = given === undefined ? {} : { body: JSON.stringify(given) }
    const { response } = await send({ call, ...body })
    expect(response.status).toBeLessThan(300)
    expect(response.headers.get('tollgate-warnings')).toBe(warning)
  })

  test('is named with the validation error that it causes', async () => {
    for (const call of ['POST /v1/sdk/usages', 'POST /v1/sdk/limits']) {
      const { response } = await send({ call, body: '{"customer_ref":"u"}' })
      expect([response.status, response.headers.get('tollgate-warnings')]).toEqual([
        400,
        'unknown_field;name="customer_ref";nearest="customerRef"',
      ])
    }
  })

  test('is refused for a strict key and for its successor', async () => {
    const rotated = await world.call('POST /v1/ui/api-keys/{strictKeyId}/rotate')
    expect(rotated).toMatchObject({ status: 201, body: { strict: true } })
    const authorization = `Bearer ${(rotated.body as { secretKey: string }).secretKey}`
    const { body } = await send({
      call: 'POST /v1/sdk/usages',
      authorization,
      body: '{"customerRef":"u","unit":2}',
    })
    expect(body).toMatchObject({
      code: 'unknown_field',
      errors: [
        {
          code: 'unrecognized_keys',
          path: ['unit'],
          message: 'Unknown field unit. Did you mean units?',
        },
      ],
    })
  })
})
