import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { vi } from 'vitest'
import { createLogger } from '@tollgate/platform/observability/logger'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { WebhookDeliverySummaryBody } from '@tollgate/schemas/http/webhook-deliveries'
import { readWebhookDispatcherConfig } from '@tollgate/webhook-dispatcher/config'
import { createWebhookDispatcher } from '@tollgate/webhook-dispatcher/service'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { startStack } from '../stack.ts'

type Received = {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** All services with a dispatcher, a provider, and a receiver that stores what it gets. */
type WebhookWorld = {
  readonly url: string
  readonly received: Received[]
  /** Returns the status with which the receiver answers. Default: 200. */
  respondWith: (received: Received) => number
  /** Sends a request. Throws if it is refused. */
  call<Body>(method: string, path: string, body?: object): Promise<Body>
  /** Causes an event and returns its id. */
  makeEvent(): Promise<string>
  /** Returns the deliveries of the event, newest first. */
  deliveriesOf(eventId: string): Promise<readonly WebhookDeliverySummaryBody[]>
  /** Waits until the event has arrived `times` times. */
  arrived(eventId: string, times?: number): Promise<readonly Received[]>
  stop(): Promise<void>
}

/** Settings with which webhooks are sent to receivers on this machine, and replays begin at once. */
export const webhookSettings = {
  TOLLGATE_SECRET_KEYS: `test:${randomBytes(32).toString('base64')}`,
  TOLLGATE_OUTBOUND_ALLOWED: '127.0.0.1',
  TOLLGATE_WEBHOOK_REPLAY_INTERVAL_MS: '20',
}

export async function startWebhookWorld(): Promise<WebhookWorld> {
  const stack = await startStack({ settings: webhookSettings })
  const config = readWebhookDispatcherConfig({
    ...webhookSettings,
    TOLLGATE_DATABASE_URL: 'postgres://',
  })
  const dispatcher = createWebhookDispatcher(config, {
    database: stack.database,
    logger: createLogger('webhook-dispatcher', 'silent'),
  })
  await dispatcher.start()
  const receiver = await startReceiver((received) => world.respondWith(received))
  const { sandbox } = await stack.createProvider()
  const world = worldOf(sandbox, receiver, async () => {
    await dispatcher.stop()
    await receiver.stop()
    await stack.stop()
  })
  return world
}

function worldOf(
  client: TollgateClient,
  { url, received }: Receiver,
  stop: () => Promise<void>,
): WebhookWorld {
  const call = async <Body>(method: string, path: string, body?: object): Promise<Body> => {
    const answer = await client.send(method, path, body)
    if (answer.status > 299) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body as Body
  }
  return {
    url,
    received,
    respondWith: () => 200,
    call,
    async makeEvent() {
      const email = `${randomUUID()}@example.com`
      await call<CustomerBody>('POST', '/v1/sdk/customers', { email })
      const { events } = await call<{ events: { id: string }[] }>('GET', '/v1/ui/events?limit=1')
      return events[0]!.id
    },
    async deliveriesOf(eventId) {
      const path = `/v1/ui/webhook-deliveries?eventId=${eventId}`
      const { deliveries } = await call<{ deliveries: WebhookDeliverySummaryBody[] }>('GET', path)
      return deliveries
    },
    arrived: (eventId, times = 1) =>
      vi.waitUntil(
        () => {
          const own = received.filter(({ headers }) => headers['sv-event-id'] === eventId)
          return own.length >= times && own
        },
        // The interval is shorter than the dispatcher's polling interval, so the dispatcher must be notified.
        { timeout: 20_000, interval: 20 },
      ),
    stop,
  }
}

export type Receiver = Pick<WebhookWorld, 'url' | 'received' | 'stop'>

/** Starts a server that receives webhooks and answers each with a status. */
export async function startReceiver(answer: WebhookWorld['respondWith']): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const one = { headers: request.headers, body: Buffer.concat(chunks).toString() }
      received.push(one)
      response.writeHead(answer(one)).end('{"received":true}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    received,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Verifies a delivery like a receiver that only checks the first signature. */
export function isFirstSignedWith(secret: string, { headers, body }: Received): boolean {
  const [t = '', first = ''] = String(headers['sv-signature']).split(',')
  const digest = createHmac('sha256', secret)
    .update(`${t.slice(2)}.${body}`)
    .digest('hex')
  return first === `v1=${digest}`
}
