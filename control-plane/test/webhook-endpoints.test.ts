import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ErrorBody } from '@tollgate/schemas/http/errors'
import type {
  WebhookEndpointBody,
  WebhookEndpointWithSecretBody,
  WebhookTestedBody,
} from '@tollgate/schemas/http/webhook-endpoints'
import { eventEnvelopeSchema } from '@tollgate/schemas/http/webhooks'
import { createUser, quickPasswords, signIn } from './console-user.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

const path = '/v1/webhook_endpoints'
const url = 'https://hooks.example.com/tollgate'

let stack: TestStack
let receiver: WebhookReceiver
let tenant: Tenant

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  stack = await startTestStack({
    settings: {
      ...quickPasswords,
      TOLLGATE_OUTBOUND_ALLOWED: '127.0.0.1',
      TOLLGATE_WEBHOOK_ENDPOINTS_MAX: '3',
    },
  })
})

afterAll(async () => {
  await stack.stop()
  await receiver.stop()
})

beforeEach(async () => {
  stack.clock.set('2026-03-01T10:00:00.000Z')
  tenant = await stack.createTenant()
})

afterEach(() => {
  receiver.received.length = 0
  receiver.status = 200
})

type Answered<Body> = { readonly status: number; readonly body: Body & ErrorBody }

const call = <Body>(method: string, at: string, body?: object): Promise<Answered<Body>> =>
  stack.call<Body>(tenant.sandboxKey, method, at, body)

async function create(fields: object = { url }): Promise<WebhookEndpointWithSecretBody> {
  const { status, body } = await call<WebhookEndpointWithSecretBody>('POST', path, fields)
  expect([status, body]).toEqual([201, body])
  return body
}

const get = async (id: string): Promise<WebhookEndpointBody> =>
  (await call<WebhookEndpointBody>('GET', `${path}/${id}`)).body

describe('an endpoint', () => {
  test('is created with a secret that is shown once and stored encrypted', async () => {
    const { secret, ...endpoint } = await create({
      url,
      enabledEvents: ['payment.failed', 'payment.succeeded', 'payment.failed'],
    })
    expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/)
    expect(endpoint).toEqual({
      id: expect.stringMatching(/^we_[A-Z0-9]{12}$/) as string,
      url,
      sendsLinks: true,
      enabledEvents: ['payment.failed', 'payment.succeeded'],
      status: 'enabled',
      failureCount: 0,
      livemode: false,
      signingSecrets: [
        { id: expect.stringMatching(/^whs_/) as string, createdAt: '2026-03-01T10:00:00.000Z' },
      ],
      createdAt: '2026-03-01T10:00:00.000Z',
      updatedAt: '2026-03-01T10:00:00.000Z',
    })
    expect(await get(endpoint.id)).toEqual({ ...endpoint, lastAttempts: [] })
    const list = await call('GET', path)
    expect(list.body).toEqual({ webhookEndpoints: [endpoint] })
    const rows = await stack.database.in('sandbox')<{ secret: string }[]>`
      select secret from webhook_secrets where endpoint_ref = ${endpoint.id}`
    expect(rows.map((row) => row.secret)).toEqual([expect.stringMatching(/^v1\./)])
  })

  test.each([
    [{}, /Validation failed/],
    [{ url: '' }, /Validation failed/],
    [{ url, enabledEvents: ['payment.made'] }, /Validation failed/],
    [{ url, enabledEvents: 'all' }, /Validation failed/],
    [{ url: 'hooks.example.com' }, /url is not a URL/],
    [{ url: 'http://hooks.example.com' }, /url must begin with https/],
    [{ url: 'https://hooks.example.com:22' }, /url must use port/],
    [{ url: 'https://me:secret@hooks.example.com' }, /url must not contain credentials/],
    [{ url: 'https://10.0.0.1/' }, /url is not a public address/],
    [{ url: 'https://2852039166/' }, /url is not a public address/],
    [{ url: 'https://localhost/' }, /url is not a public address/],
    [{ url: 'https:hooks.example.com' }, /url must begin with https/],
    [{ url: ' https://hooks.example.com' }, /url must not contain spaces/],
    [{ url: 'https://hooks.example.com/\0' }, /Validation failed/],
    [{ url: 'https://hooks.example.com/\ud800' }, /Validation failed/],
  ])('refuses %j', async (body, message) => {
    const refused = await call('POST', path, body)
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringMatching(message)])
    const { id } = await create()
    if (!('url' in body)) return
    const changed = await call('PATCH', `${path}/${id}`, body)
    expect([changed.status, changed.body.message]).toEqual([400, expect.stringMatching(message)])
  })

  test('has an address of limited length', async () => {
    const long = (chars: number) => ({ url: url.padEnd(chars, 'x') })
    expect((await call('POST', path, long(2_048))).status).toBe(201)
    expect((await call('POST', path, long(2_049))).status).toBe(400)
  })

  test('may have an address without TLS only in sandbox, if the operator allows it', async () => {
    await create({ url: receiver.url })
    const live = await stack.call(tenant.liveKey, 'POST', path, { url: receiver.url })
    expect(live.body.message).toBe('url must begin with https://')
  })

  test('counts towards a maximum, also for concurrent requests', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => call('POST', path, { url })))
    expect(all.map(({ status }) => status).sort()).toEqual([201, 201, 201, 400, 400, 400])
    const [first] = (await call<{ webhookEndpoints: WebhookEndpointBody[] }>('GET', path)).body
      .webhookEndpoints
    expect((await call('DELETE', `${path}/${first!.id}`)).body).toEqual({ success: true })
    await create()
  })

  test.each(['PATCH', 'PUT'])('changes the given fields with %s', async (method) => {
    const { id } = await create({ url, enabledEvents: ['payment.failed'] })
    stack.clock.set('2026-03-01T11:00:00.000Z')
    const moved = 'https://hooks.example.com/new'
    expect((await call(method, `${path}/${id}`, { url: moved })).body).toMatchObject({
      url: moved,
      enabledEvents: ['payment.failed'],
      updatedAt: '2026-03-01T11:00:00.000Z',
    })
    await call(method, `${path}/${id}`, { enabledEvents: [] })
    expect(await get(id)).toMatchObject({ url: moved, enabledEvents: [], status: 'enabled' })
  })

  test('shows why it was disabled, and resets its failures when it is enabled', async () => {
    const { id } = await create()
    await stack.database.in('sandbox')`
      update webhook_endpoints set status = 'disabled', disabled_reason = 'attempts',
        disabled_at = '2026-03-01T10:30:00Z', failure_count = 40, failing_since = '2026-02-11T08:00:00Z'
      where reference = ${id}`
    expect(await get(id)).toMatchObject({
      status: 'disabled',
      disabledReason: 'attempts',
      disabledAt: '2026-03-01T10:30:00.000Z',
      failureCount: 40,
      failingSince: '2026-02-11T08:00:00.000Z',
    })
    const enabled = await call('PATCH', `${path}/${id}`, { status: 'enabled' })
    expect(enabled.body).toMatchObject({ status: 'enabled', failureCount: 0 })
    for (const field of ['disabledReason', 'disabledAt', 'failingSince']) {
      expect(enabled.body).not.toHaveProperty(field)
    }
    const off = await call('PATCH', `${path}/${id}`, { status: 'disabled' })
    expect(off.body).toMatchObject({ status: 'disabled', disabledReason: 'provider' })
    const again = await call('PATCH', `${path}/${id}`, { status: 'disabled' })
    expect(again.body).toEqual(off.body)
  })

  test('is no longer found after its deletion, nor are its secrets', async () => {
    const { id } = await create()
    await call('PATCH', `${path}/${id}`, { status: 'disabled' })
    expect((await call('DELETE', `${path}/${id}`)).status).toBe(200)
    const rejectedCalls: [string, string][] = [
      ['GET', `${path}/${id}`],
      ['PATCH', `${path}/${id}`],
      ['DELETE', `${path}/${id}`],
      ['POST', `${path}/${id}/rotate`],
      ['POST', `${path}/${id}/promote`],
      ['POST', `/v1/ui/webhooks/${id}/test`],
    ]
    for (const [method, at] of rejectedCalls) {
      const body = method === 'PATCH' ? { url } : undefined
      expect([method, at, (await call(method, at, body)).status]).toEqual([method, at, 404])
    }
    expect((await call('GET', path)).body).toEqual({ webhookEndpoints: [] })
    expect(
      await stack.database.in('sandbox')`
        select from webhook_secrets where endpoint_ref = ${id}`,
    ).toHaveLength(0)
  })
})

describe('the secrets of an endpoint', () => {
  const rotate = (id: string, body?: object) =>
    call<WebhookEndpointWithSecretBody>('POST', `${path}/${id}/rotate`, body)

  /** Sends a test event. Returns its signatures in the order of the header. */
  async function signatures(id: string): Promise<{ t: string; v1: string[]; body: Buffer }> {
    const sent = await call<WebhookTestedBody>('POST', `/v1/ui/webhooks/${id}/test`)
    expect(sent.body).toMatchObject({ success: true })
    const { headers, body } = receiver.received.at(-1)!
    const [t, ...v1] = String(headers['sv-signature']).split(',')
    return {
      t: t!.slice(2),
      v1: v1.map((part) => part.slice(3)),
      body,
    }
  }

  const digestOf = (secret: string, { t, body }: { t: string; body: Buffer }): string =>
    createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')

  test('are rotated with an overlap in which the old one signs first, until the new one is promoted', async () => {
    const { id, secret: old } = await create({ url: receiver.url })
    stack.clock.set('2026-03-01T11:00:00.000Z')
    const { body: rotated } = await rotate(id)
    const [oldName, newName] = rotated.signingSecrets
    expect(rotated.secret).not.toBe(old)
    expect([oldName!.expiresAt, newName!.expiresAt]).toEqual([
      '2026-03-02T11:00:00.000Z',
      undefined,
    ])
    const before = await signatures(id)
    expect(before.v1).toEqual([digestOf(old, before), digestOf(rotated.secret, before)])

    stack.clock.set('2026-03-01T12:00:00.000Z')
    const promoted = await call<WebhookEndpointBody>('POST', `${path}/${id}/promote`)
    expect(promoted.body.signingSecrets).toEqual([newName, oldName])
    const after = await signatures(id)
    expect(after.v1).toEqual([digestOf(rotated.secret, after), digestOf(old, after)])

    stack.clock.set('2026-03-02T11:00:00.000Z')
    const ended = await signatures(id)
    expect(ended.v1).toEqual([digestOf(rotated.secret, ended)])
  })

  test('expire at once without an overlap', async () => {
    const { id } = await create({ url: receiver.url })
    const { body } = await rotate(id, { overlapHours: 0 })
    expect(body.signingSecrets).toHaveLength(1)
    const sent = await signatures(id)
    expect(sent.v1).toEqual([digestOf(body.secret, sent)])
  })

  test('are limited to three', async () => {
    const { id } = await create()
    for (const minute of ['01', '02']) {
      stack.clock.set(`2026-03-01T11:${minute}:00.000Z`)
      expect((await rotate(id, { overlapHours: 1 })).status).toBe(200)
    }
    stack.clock.set('2026-03-01T11:03:00.000Z')
    const refused = await rotate(id)
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining('ends at 2026-03-01T12:01:00.000Z'),
    ])
    stack.clock.set('2026-03-01T12:01:00.000Z')
    expect((await rotate(id)).status).toBe(200)
  })

  test.each([{ overlapHours: -1 }, { overlapHours: 168.1 }, { overlapHours: '24' }])(
    'refuse a rotation with %j',
    async (body) => {
      const { id } = await create()
      expect((await rotate(id, body)).status).toBe(400)
    },
  )

  test('are both returned and both sign if two are created concurrently', async () => {
    const { id } = await create({ url: receiver.url })
    const both = await Promise.all([rotate(id), rotate(id)])
    const sent = await signatures(id)
    for (const { body } of both) expect(sent.v1).toContain(digestOf(body.secret, sent))
  })
})

describe('a test', () => {
  const send = (id: string, credential = tenant.sandboxKey) =>
    stack.call<WebhookTestedBody>(credential, 'POST', `/v1/ui/webhooks/${id}/test`)

  test('sends a sample event with the headers of a real one', async () => {
    const { id } = await create({ url: receiver.url, enabledEvents: ['customer.created'] })
    await call('PATCH', `${path}/${id}`, { status: 'disabled' })
    const { status, body } = await send(id)
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        eventId: expect.stringMatching(/^evt_/) as string,
        status: 200,
        durationMs: expect.any(Number) as number,
      },
    ])
    const [{ headers, body: bytes }] = receiver.received as [(typeof receiver.received)[number]]
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'sv-event-id': body.eventId,
      'sv-delivery': expect.stringMatching(/^dlv_/) as string,
      'sv-attempt': '1',
      'user-agent': expect.stringContaining('(+webhooks)') as string,
    })
    const envelope = eventEnvelopeSchema.parse(JSON.parse(bytes.toString()))
    expect(envelope).toMatchObject({
      id: body.eventId,
      type: 'payment.succeeded',
      created: Date.UTC(2026, 2, 1, 10) / 1_000,
      livemode: false,
    })
    expect((await call<{ events: unknown[] }>('GET', '/v1/ui/events')).body.events).toEqual([])
  })

  test('returns the response or the reason of its failure', async () => {
    const refusing = await create({ url: receiver.url })
    receiver.status = 500
    expect((await send(refusing.id)).body).toMatchObject({ success: false, status: 500 })
    const closed = await create({ url: 'http://127.0.0.1:9/' })
    const { status, body } = await send(closed.id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      success: false,
      error: expect.stringMatching(/address/) as string,
    })
    expect(body).not.toHaveProperty('status')
  })

  test('is sent at most once per second', async () => {
    const { id } = await create({ url: receiver.url })
    stack.clock.set('2026-03-01T10:00:05.000Z')
    const both = await Promise.all([send(id), send(id)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 429])
    stack.clock.set('2026-03-01T10:00:05.999Z')
    expect((await send(id)).status).toBe(429)
    stack.clock.set('2026-03-01T10:00:06.000Z')
    expect((await send(id)).status).toBe(200)
    expect(receiver.received).toHaveLength(2)
  })

  test('is sent for a signed-in console user, too', async () => {
    const { id } = await create({ url: receiver.url })
    const email = `${tenant.providerId}@example.com`
    await createUser(stack, tenant, email)
    const { accessToken } = await signIn(stack, email)
    expect((await send(id, accessToken)).body).toMatchObject({ success: true })
  })
})

type ReceivedWebhook = {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A server that stores the requests that it receives, and responds with the status that the test sets. */
type WebhookReceiver = {
  readonly url: string
  readonly received: ReceivedWebhook[]
  status: number
  stop(): Promise<void>
}

async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      receiver.received.push({ headers: request.headers, body: Buffer.concat(chunks) })
      response.writeHead(receiver.status).end('thank you')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${port}/webhooks`,
    received: [],
    status: 200,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}
