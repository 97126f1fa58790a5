import { randomBytes } from 'node:crypto'
import { jetstream } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCappedProduct, createCustomer } from './offers.ts'
import { createEmbeddedStack, type StackUnderTest } from './stack-under-test.ts'
import { WalletCaller } from './wallet-caller.ts'

/* The message bus with the real control plane, limits and wallets. Tests next to it cover the bus alone. */

const server = process.env['TOLLGATE_TEST_NATS_URL']
const name = `t${randomBytes(6).toString('hex')}`
const subject = `${name}.meter.record`

let underTest: StackUnderTest
let connection: NatsConnection
beforeAll(async () => {
  if (server === undefined) return
  const settings = {
    TOLLGATE_NATS_URL: server,
    TOLLGATE_NATS_SERVICE: name,
    TOLLGATE_NATS_STREAM: name,
    TOLLGATE_NATS_RECONNECT_MS: '100',
  }
  underTest = await createEmbeddedStack('the control plane', { settings })
  connection = await connect({ servers: server })
})
afterAll(async () => {
  await connection?.close()
  await underTest?.remove()
})

/** Publishes an item. Repeats it while ingest has not created the stream yet. */
async function publish(item: object): Promise<void> {
  await expect
    .poll(() =>
      jetstream(connection)
        .publish(subject, JSON.stringify(item))
        .then(
          () => true,
          () => false,
        ),
    )
    .toBe(true)
}

it.skipIf(server === undefined)('counts for limits of each provider and environment', async () => {
  const [one, other] = [
    await underTest.stack.createProvider(),
    await underTest.stack.createProvider(),
  ]
  const clients = [one.sandbox, one.live, other.sandbox]
  const offered = await Promise.all(
    clients.map(async (client, index) => {
      const productRef = await createCappedProduct(client, 100)
      const customerRef = await createCustomer(client)
      await publish({ userId: customerRef, value: index + 1 })
      return { client, productRef, customerRef, remaining: 99 - index }
    }),
  )
  for (const { client, productRef, customerRef, remaining } of offered) {
    const check = async () => (await client.checkLimit(customerRef, productRef)).remaining
    await expect.poll(check).toBe(remaining)
  }
})

it.skipIf(server === undefined)("debits the customer's wallet once per key", async () => {
  const { sandbox } = await underTest.stack.createProvider()
  const send = async <Body>(method: string, path: string, body?: unknown): Promise<Body> =>
    (await sandbox.require(method, path, body)) as Body
  const wallets = await WalletCaller.open(underTest.stack, sandbox, send)
  const { productRef } = wallets
  const userId = await wallets.createPayer()
  await wallets.grant(userId, 500)
  const keyed = { userId, productRef, properties: { idempotencyKey: 'order-1' } }
  await publish(keyed)
  await publish(keyed)
  await publish({ userId, productRef, value: 2 })
  await expect.poll(() => wallets.balanceOf(userId)).toBe(200)
})
