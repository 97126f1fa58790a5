import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import type { PaywallOptions } from '../src/create-paywall.ts'
import { startHost, type Framework, type Host, type HostCall } from './hosts.ts'
import type { Shop, SoldProduct } from './sold-product.ts'

/** Tests that every adapter must pass. */
export function describeHost(framework: Framework, shop: () => Shop): void {
  const isMcp = framework.startsWith('mcp')
  const hosts: Host[] = []

  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.stop()
  })

  async function open(cap: number, options?: Partial<PaywallOptions>): Promise<SoldProduct & Host> {
    const product = await shop().sell(cap, options)
    const host = await startHost(framework, product.paywall)
    hosts.push(host)
    const call = (given: HostCall) => host.call({ customer: product.customer, ...given })
    return { ...product, ...host, call }
  }

  test('serves and counts calls up to the limit, and refuses the next one', async () => {
    const { call, left, productRef, customer } = await open(2)
    expect(await call({ text: 'first' })).toEqual({ kind: 'served', body: { done: 'first' } })
    expect(await left()).toBe(1)
    await call({})
    const { kind, body } = await call({})
    expect(kind).toBe('paywalled')
    expect(body).toMatchObject({
      kind: 'payment_required',
      product: productRef,
      checkoutUrl: isMcp ? '' : (expect.stringContaining('/customer/checkout?id=') as unknown),
      message: expect.stringContaining('reached the limit') as unknown,
      productDetails: { reference: productRef },
    })
    if (!isMcp) expect(body).toMatchObject({ success: false, error: 'PaywallError' })
    expect(await left()).toBe(0)
    await expect.poll(() => shop().stored(customer, 'paywall')).toBe(1)
    expect(await shop().stored(customer, 'success')).toBe(2)
  })

  test('refuses a call that names no customer, and an unknown customer', async () => {
    const { call, left } = await open(1)
    expect((await call({ customer: '' })).kind).toBe('no_customer')
    expect((await call({ customer: 'nobody' })).kind).toBe('forbidden')
    expect(await left()).toBe(1)
  })

  test('releases the unit when', async () => {
    const { call, left, customer } = await open(1)
    expect((await call({ does: 'throw' })).kind).toBe('failed')
    await expect.poll(async () => (await call({ does: 'ok' })).kind).toBe('served')
    expect(await left()).toBe(0)
    await expect.poll(() => shop().stored(customer, 'fail')).toBe(1)
  })

  test.skipIf(isMcp)('does not count a call whose client hangs up before the answer', async () => {
    const { call, left, customer } = await open(1)
    // Aborts while the handler runs. The exact time does not matter for what is counted.
    const signal = AbortSignal.timeout(100)
    await expect(call({ does: 'slow', signal })).rejects.toThrow()
    await expect.poll(() => shop().stored(customer, 'fail')).toBe(1)
    expect(await left()).toBe(1)
  })

  test("counts a client's key once, for the same call after it succeeded", async () => {
    const { call, left } = await open(5)
    const key = randomUUID()
    expect((await call({ key, does: 'throw' })).kind).toBe('failed')
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect((await call({ key, text: 'same' })).kind).toBe('served')
    }
    expect(await left()).toBe(4)
    await call({ key, text: 'other' })
    expect(await left()).toBe(3)
  })

  test('serves exactly as many concurrent calls as the plan allows', async () => {
    const { call, left } = await open(5)
    const calls = Array.from({ length: 20 }, () => call({ does: 'slow' }))
    const kinds = (await Promise.all(calls)).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'served')).toHaveLength(5)
    expect(kinds.filter((kind) => kind === 'paywalled')).toHaveLength(15)
    expect(await left()).toBe(0)
  })

  test('refuses or serves calls while Tollgate is unavailable, as configured', async () => {
    const { front } = shop()
    front.fault = 'away'
    const away = { baseUrl: front.url, timeoutMs: 2_000 }
    const refusing = await open(5, away)
    expect((await refusing.call({})).kind).toBe('unavailable')
    const serving = await open(5, { ...away, onUnavailable: 'allow' })
    expect((await serving.call({})).kind).toBe('served')
    front.fault = undefined
    expect(await serving.left()).toBe(4)
  })
}
