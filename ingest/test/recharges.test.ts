import { walletAddress, walletEntry } from '@tollgate/domain/wallet/hot-wallet'
import { rechargeBeginningsPath } from '@tollgate/schemas/http/auto-recharge'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { countUsage, productRef, publishEntitlement } from './entitled-customer.ts'
import { Installation, partitionCount, providerId } from './installation.ts'

/* These tests cover the requests about wallets below their threshold, and how long responses to usage wait for them. */

const credit = 1_000_000n
const otherProvider = 'prv_OTHER'

let installation: Installation
let key: string
/** Customers that the control plane was asked about, one entry per request. */
let requestedCustomers: string[]
/** The response of the control plane, or undefined if it does not respond. */
let answerBody: object | undefined
let status: number
let versions = 0

beforeEach(async () => {
  requestedCustomers = []
  answerBody = undefined
  status = 200
  // The time is within the period of the entitlement.
  installation = await start()
  key = await installation.createKey()
})
afterEach(() => installation.remove())

async function start(settings: Record<string, string> = {}): Promise<Installation> {
  const clock = { now: () => Date.UTC(2026, 0, 15) }
  const started = await Installation.start({ clock, settings })
  started.controlPlane = (request, response) => {
    if (request.url !== rechargeBeginningsPath) return void response.writeHead(404).end('{}')
    request.on('data', (data: Buffer) => {
      requestedCustomers.push((JSON.parse(data.toString()) as { customerRef: string }).customerRef)
      if (answerBody !== undefined) response.writeHead(status).end(JSON.stringify(answerBody))
    })
  }
  return started
}

/** Publishes a customer whose wallet is always below its threshold. */
async function publishLow(customerRef: string, grantedCredits = 100n, holder = providerId) {
  const credited = { creditsPerUnit: 1, currency: 'USD' }
  const changes = { cap: null, credit: credited, customerRef, customerRefs: [customerRef] }
  await publishEntitlement(installation, changes, holder)
  const name = { environment: 'sandbox', providerId: holder, customerRef } as const
  const grantedMicros = grantedCredits * credit
  const sums = { grantedMicros, removedMicros: 0n, rechargeBelowMicros: 1_000n * credit }
  versions += 1
  const entry = { version: versions, ...walletEntry(sums, []) }
  await installation.hotState.putEntry(walletAddress(name, partitionCount), entry)
}

async function use(customerRef: string, secretKey = key): Promise<unknown> {
  const { body } = await installation.post('/v1/sdk/usages', secretKey, { customerRef, productRef })
  return (body['creditDebit'] as { autoRecharge?: unknown }).autoRecharge
}

it('answers usage in time although the control plane does not respond', async () => {
  const usedWithinMs = async (): Promise<number> => {
    const customerRef = `cus_${versions}`
    await publishLow(customerRef)
    await countUsage(installation)
    const startMs = performance.now()
    expect(await use(customerRef)).toEqual({ triggered: false })
    expect(requestedCustomers.at(-1)).toBe(customerRef)
    return performance.now() - startMs
  }
  // The assertion polls, because one request may be slow on a busy machine.
  await expect.poll(usedWithinMs, { timeout: 10_000 }).toBeLessThan(1_000)
})

it.each([{ triggered: true }, { triggered: false, reason: 'no_card' }])(
  'sends no more requests after %j until credits are granted',
  async (answer) => {
    answerBody = answer
    await publishLow('cus_1')
    const { triggered } = answer
    expect(await use('cus_1')).toEqual({ triggered })
    for (let more = 0; more < 5; more += 1) {
      expect(await use('cus_1')).toEqual({ triggered: false })
    }
    expect(requestedCustomers).toHaveLength(1)
    await publishLow('cus_1', 200n)
    expect(await use('cus_1')).toEqual({ triggered })
    expect(requestedCustomers).toHaveLength(2)
  },
)

it('sends a request again after the pause', async () => {
  await installation.remove()
  installation = await start({ TOLLGATE_RECHARGE_PAUSE_SECONDS: '1' })
  key = await installation.createKey()
  answerBody = { triggered: false, reason: 'declined' }
  await publishLow('cus_1')
  const askedAgain = async (): Promise<number> => {
    await use('cus_1')
    return requestedCustomers.length
  }
  const startMs = performance.now()
  await expect.poll(askedAgain, { timeout: 20_000 }).toBe(2)
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(1_000)
})

it('sends a request with each debit while the ledger has a higher balance than the hot state', async () => {
  answerBody = { triggered: false, reason: 'enough' }
  await publishLow('cus_1')
  for (let more = 0; more < 5; more += 1) await use('cus_1')
  expect(requestedCustomers).toHaveLength(5)
})

it("leaves calls for other providers while one provider's calls get no response", async () => {
  const wallets = Array.from({ length: 40 }, (_, index) => `cus_${index}`)
  for (const wallet of wallets) await publishLow(wallet)
  await Promise.all(wallets.map((wallet) => use(wallet)))
  expect(requestedCustomers).toHaveLength(8)
  await countUsage(installation)
  const otherKey = await installation.createKey('sandbox', null, otherProvider)
  await publishLow('cus_other', 100n, otherProvider)
  answerBody = { triggered: true }
  expect(await use('cus_other', otherKey)).toEqual({ triggered: true })
})

it('sends requests about other wallets after a refusal for one', async () => {
  await publishLow('cus_1')
  await publishLow('cus_2')
  status = 404
  answerBody = { triggered: true }
  expect(await use('cus_1')).toEqual({ triggered: false })
  status = 200
  expect(await use('cus_1')).toEqual({ triggered: false })
  await countUsage(installation)
  expect(await use('cus_2')).toEqual({ triggered: true })
})

it.each([401, 403, 429])(
  'sends a request about the wallet again after the key was refused with %i',
  async (refusal) => {
    await publishLow('cus_1')
    status = refusal
    expect(await use('cus_1')).toEqual({ triggered: false })
    status = 200
    answerBody = { triggered: true }
    expect(await use('cus_1')).toEqual({ triggered: true })
  },
)
