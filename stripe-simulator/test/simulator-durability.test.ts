import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { processorAt } from './simulator-under-test.ts'

let folder: string
let child: ChildProcess

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-stripe-'))
})

afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await rm(folder, { recursive: true })
})

async function start(): Promise<string> {
  const main = fileURLToPath(new URL('../dist/bundled/main.js', import.meta.url))
  child = fork(main, {
    // The Node options of a Vitest worker are not inherited, because they resolve packages to their sources.
    execArgv: [],
    env: { PATH: process.env['PATH'], TOLLGATE_DATA_DIR: folder, TOLLGATE_LOG_LEVEL: 'error' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [ready] = (await once(child, 'message')) as [{ port: number }]
  return `http://127.0.0.1:${ready.port}`
}

test('keeps every answered payment once, and the answer of its idempotency key, after a kill under load', async () => {
  let processor = processorAt(await start())
  const made = await processor.ensureCustomer({ metadata: {} }, 'customer')
  if (made.outcome !== 'done') throw new Error(made.message)
  const customerId = made.value.id
  const pay = (invoice: number): ReturnType<typeof processor.createPaymentIntent> =>
    processor.createPaymentIntent(
      {
        amountMinor: 1_000n,
        currency: 'USD',
        customerId,
        metadata: { invoice: String(invoice) },
        confirm: { paymentMethodId: 'pm_card_visa', presence: 'off_session' },
      },
      `inv_${invoice}:create:1`,
    )
  const count = 60
  const payments = Array.from({ length: count }, (_, invoice) => pay(invoice))
  await Promise.race(payments.slice(10))
  child.kill('SIGKILL')
  const before = await Promise.all(payments)
  expect(before.map(({ outcome }) => outcome)).toContain('succeeded')
  await processor.close()

  processor = processorAt(await start())
  const after = await Promise.all(before.map((_, invoice) => pay(invoice)))
  for (const [invoice, { outcome }] of before.entries()) {
    expect(after[invoice]?.outcome).toBe('succeeded')
    if (outcome === 'succeeded') expect(after[invoice]).toEqual(before[invoice])
  }
  const invoices: (string | undefined)[] = []
  const search = { customerId, createdFrom: new Date(Date.now() - 3_600_000) }
  for await (const each of processor.findPaymentIntents(search)) {
    invoices.push(each.metadata['invoice'])
  }
  expect(invoices).toHaveLength(count)
  expect(new Set(invoices).size).toBe(count)
  await processor.close()
})
