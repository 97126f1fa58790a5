import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { PaymentIntent } from '@tollgate/platform/payments/payment-objects'
import type { PaymentOutcome } from '@tollgate/platform/payments/payment-outcomes'
import {
  PaymentProcessorUnavailableError,
  type PaymentProcessor,
} from '@tollgate/platform/payments/payment-processor'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSimulator, processorAt, type SimulatorUnderTest } from './simulator-under-test.ts'

const confirmPath = '/v1/payment_intents'
const dayMs = 86_400_000

let opened: SimulatorUnderTest
let processor: PaymentProcessor
let customerId: string

beforeEach(async () => {
  opened = await openSimulator({ timeoutMs: 1_500 })
  processor = opened.processor
  const made = await processor.ensureCustomer({ metadata: {} }, 'customer')
  if (made.outcome !== 'done') throw new Error(made.message)
  customerId = made.value.id
})

afterEach(() => opened.close())

function pay(key = 'inv_1:create:1'): Promise<PaymentOutcome> {
  return processor.createPaymentIntent(
    {
      amountMinor: 5_000n,
      currency: 'EUR',
      customerId,
      metadata: { invoice: 'inv_1' },
      confirm: { paymentMethodId: 'pm_card_visa', presence: 'off_session' },
    },
    key,
  )
}

async function findPayments(): Promise<readonly PaymentIntent[]> {
  const intents: PaymentIntent[] = []
  const createdFrom = new Date(Date.now() - 7 * dayMs)
  const search = { customerId, createdFrom, metadata: { invoice: 'inv_1' } }
  for await (const each of processor.findPaymentIntents(search)) intents.push(each)
  return intents
}

const faults = [
  ['reset_before', 'connection', 2],
  ['reset_after', 'connection', 2],
  ['hang_before', 'timeout', 1],
  ['hang_after', 'timeout', 1],
  ['rate_limit', 'rate_limited', 1],
] as const

test.each(faults)(
  '%s: returns an unknown outcome (%s), and a retry with the same key charges once',
  async (kind, reason, times) => {
    // After a single reset, the SDK would repeat the request by itself and would get the earlier answer.
    if (kind !== 'reset_after') await opened.admin('faults', { kind, path: confirmPath, times })
    else {
      await opened.admin('faults', { kind, path: confirmPath })
      await opened.admin('faults', { kind: 'reset_before', path: confirmPath })
    }
    expect(await pay()).toMatchObject({ outcome: 'unknown', reason })
    const hasHappened = kind.endsWith('_after')
    expect(await findPayments()).toHaveLength(hasHappened ? 1 : 0)
    expect(await pay()).toMatchObject({ outcome: 'succeeded' })
    expect(await findPayments()).toMatchObject([{ status: 'succeeded', receivedMinor: 5_000n }])
  },
)

test.each([
  ['error_before', 0],
  ['error_after', 1],
] as const)(
  '%s: returns the same error for the key, and a search finds the actual payments',
  async (kind, count) => {
    await opened.admin('faults', { kind, path: confirmPath })
    for (let attempt = 1; attempt <= 2; attempt++) {
      expect(await pay()).toMatchObject({ outcome: 'unknown', reason: 'server_error' })
    }
    expect(await findPayments()).toHaveLength(count)
  },
)

test('charges again after the idempotency key has expired', async () => {
  expect(await pay()).toMatchObject({ outcome: 'succeeded' })
  await opened.admin('clock', { advanceSeconds: 86_399 })
  expect(await pay()).toMatchObject({ outcome: 'succeeded' })
  expect(await findPayments()).toHaveLength(1)
  await opened.admin('clock', { advanceSeconds: 1 })
  expect(await pay()).toMatchObject({ outcome: 'succeeded' })
  expect(await findPayments()).toHaveLength(2)
})

test('returns an unknown outcome for a key that is in use, and changes nothing', async () => {
  await opened.admin('faults', { kind: 'slow', path: confirmPath, delayMs: 200 })
  const [first, second] = await Promise.all([pay(), pay()])
  expect([first.outcome, second.outcome].sort()).toEqual(['succeeded', 'unknown'])
  expect([first, second]).toContainEqual(expect.objectContaining({ reason: 'in_progress' }))
  expect(await findPayments()).toHaveLength(1)
})

test('returns an unknown outcome for writes, and throws for reads, if the processor is unreachable', async () => {
  await opened.simulator.stop()
  expect(await pay()).toMatchObject({ outcome: 'unknown', reason: 'connection' })
  const reading = processor.retrieve('payment_intent', 'pi_1')
  await expect(reading).rejects.toBeInstanceOf(PaymentProcessorUnavailableError)
  await expect(findPayments()).rejects.toBeInstanceOf(PaymentProcessorUnavailableError)
})

type ReceivedRequest = { readonly key: unknown; readonly body: string; readonly headers: object }

/** Starts a server that reads each request completely before `answer` handles its connection. */
async function startRecordingServer(
  answer: (socket: Socket, count: number) => void,
): Promise<{ server: Server; seen: ReceivedRequest[]; url: string }> {
  const seen: ReceivedRequest[] = []
  const server = createServer((request) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const { headers } = request
      seen.push({ key: headers['idempotency-key'], body, headers })
      answer(request.socket, seen.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('repeats a request after a reset with the same key and body', async () => {
  const { server, seen, url } = await startRecordingServer((socket) => socket.resetAndDestroy())
  processor = processorAt(url)
  expect(await pay('inv_9:create:1')).toMatchObject({ outcome: 'unknown', reason: 'connection' })
  expect(seen.map(({ key }) => key)).toEqual(['inv_9:create:1', 'inv_9:create:1'])
  expect(seen[1]?.body).toBe(seen[0]?.body)
  expect(seen[0]?.headers).toMatchObject({ 'stripe-version': '2026-10-28.endive' })
  expect(seen[0]?.headers).not.toHaveProperty('x-stripe-client-telemetry')
  await processor.close()
  server.close()
})

test('times out if the response arrives too slowly', async () => {
  const { server, url } = await startRecordingServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n')
    const timer = setInterval(() => socket.write(' '), 50)
    socket.on('close', () => clearInterval(timer))
    socket.on('error', () => socket.destroy())
  })
  processor = processorAt(url, 300)
  expect(await pay()).toMatchObject({ outcome: 'unknown', reason: 'timeout' })
  await processor.close()
  server.closeAllConnections()
  server.close()
})

test('returns an unknown outcome if the secret key is not accepted', async () => {
  const { server, url } = await startRecordingServer((socket) => {
    const body = JSON.stringify({ error: { type: 'invalid_request_error', message: 'Bad key' } })
    socket.end(`HTTP/1.1 401 No\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  })
  processor = processorAt(url)
  expect(await pay()).toMatchObject({ outcome: 'unknown', reason: 'not_permitted' })
  await processor.close()
  server.close()
})
