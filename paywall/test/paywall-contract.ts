import { expect, test } from 'vitest'
import {
  createPaywall,
  LostUsageError,
  RefusedError,
  type Admission,
  type PaywallOptions,
} from '../src/create-paywall.ts'
import type { Shop, SoldProduct } from './sold-product.ts'

const begin = ({ paywall, customer }: SoldProduct) => paywall.begin({ customerRef: customer })

async function serve(product: SoldProduct): Promise<Admission['kind']> {
  const admission = await begin(product)
  if (admission.kind === 'admitted') await admission.call.end('success')
  return admission.kind
}

/** Tests that do not depend on a framework. */
export function describePaywall(shop: () => Shop): void {
  test('sends a record again if the response was lost, and counts it once', async () => {
    const { front } = shop()
    const product = await shop().sell(5, { baseUrl: front.url })
    front.fault = 'unanswered'
    const sentBefore = front.bulkRequests
    await serve(product)
    await expect.poll(() => front.bulkRequests).toBeGreaterThanOrEqual(sentBefore + 2)
    front.fault = undefined
    expect(await product.left()).toBe(4)
    expect(product.errors).toHaveLength(1)
  })

  test('holds units by default, and lets concurrent calls exceed the limit with `check`', async () => {
    const ten = (product: SoldProduct) =>
      Promise.all(Array.from({ length: 10 }, () => begin(product)))
    const kinds = (admissions: readonly Admission[]) =>
      admissions.filter(({ kind }) => kind === 'admitted').length
    const checked = await ten(await shop().sell(3, { admission: 'check' }))
    const held = await ten(await shop().sell(3))
    expect([kinds(checked), kinds(held)]).toEqual([10, 3])
    for (const admission of [...checked, ...held]) {
      if (admission.kind === 'admitted') await admission.call.end('fail')
    }
  })

  test('decides within the timeout when Tollgate is silent, and at once while it stays silent', async () => {
    const { front } = shop()
    const product = await shop().sell(1, { baseUrl: front.url, timeoutMs: 400 })
    front.fault = 'silent'
    const startedAt = performance.now()
    expect((await begin(product)).kind).toBe('unavailable')
    const firstMs = performance.now() - startedAt
    for (let call = 0; call < 5; call += 1) {
      expect((await begin(product)).kind).toBe('unavailable')
    }
    expect(firstMs).toBeGreaterThanOrEqual(350)
    expect(performance.now() - startedAt - firstMs).toBeLessThan(350)
  })

  test.each([{ secretKey: 'sk_sandbox_wrong' }, { productRef: 'prd_WRONG' }])(
    'refuses calls and reports the reason for a wrong configuration: %j',
    async (wrong) => {
      const product = await shop().sell(1, { onUnavailable: 'allow', ...wrong })
      expect(await serve(product)).toBe('unavailable')
      expect(product.errors).toEqual([expect.any(RefusedError)])
    },
  )

  test('links to the checkout while the last unit is held but not used yet', async () => {
    const product = await shop().sell(1)
    const held = await begin(product)
    const call = { customerRef: product.customer, includesCheckoutLink: true }
    expect(await product.paywall.begin(call)).toMatchObject({
      gate: { checkoutUrl: expect.stringContaining('/customer/checkout?id=') as unknown },
    })
    if (held.kind === 'admitted') await held.call.end('success')
    expect(await product.left()).toBe(0)
  })

  test('keeps working when the error handler throws', async () => {
    const onError = () => {
      throw new Error('It reports nothing')
    }
    const product = await shop().sell(1, { onError, secretKey: 'sk_sandbox_wrong' })
    expect((await begin(product)).kind).toBe('unavailable')
  })

  test("links to the provider's own page if configured", async () => {
    const checkoutUrl = (customer: string) => `https://shop.example/${customer}`
    const product = await shop().sell(1, { checkoutUrl })
    await serve(product)
    const url = checkoutUrl(product.customer)
    const call = { customerRef: product.customer, includesCheckoutLink: true }
    expect(await product.paywall.begin(call)).toMatchObject({
      gate: {
        checkoutUrl: url,
        message: `You have reached the limit of your plan. Upgrade to continue: ${url}`,
      },
      recovery: 'upgrade',
    })
  })

  test('refuses calls whose records would not fit in the queue', async () => {
    const { front } = shop()
    const product = await shop().sell(9, { queueMax: 2 })
    const open = await Promise.all([begin(product), begin(product), begin(product)])
    expect(open.map(({ kind }) => kind)).toEqual(['admitted', 'admitted', 'unavailable'])
    for (const admission of open) {
      if (admission.kind === 'admitted') await admission.call.end('success')
    }
    expect(await product.left()).toBe(7)
    front.fault = 'away'
    const serving = { baseUrl: front.url, queueMax: 1, onUnavailable: 'allow' } as const
    const lossy = await shop().sell(9, serving)
    for (let call = 0; call < 3; call += 1) expect(await serve(lossy)).toBe('admitted')
    const lost = lossy.errors.filter((error) => error instanceof LostUsageError)
    expect(lost.map(({ events }) => events.length)).toEqual([1, 1])
  })

  test('drops a record that Tollgate does not accept, and delivers the others', async () => {
    const { front } = shop()
    const product = await shop().sell(9, { baseUrl: front.url, onUnavailable: 'allow' })
    front.fault = 'away'
    await serve(product)
    await serve({ ...product, customer: 'x'.repeat(2_000) })
    await serve(product)
    front.fault = undefined
    expect(await product.left()).toBe(7)
    const lost = product.errors.filter((error) => error instanceof LostUsageError)
    expect(lost.map(({ events }) => events.length)).toEqual([1])
  })

  test('delivers what it can on close, and returns the remaining records', async () => {
    const { front } = shop()
    const product = await shop().sell(9, { baseUrl: front.url })
    const admission = await begin(product)
    front.fault = 'away'
    const closing = product.paywall.close({ timeoutMs: 300 })
    expect((await begin(product)).kind).toBe('unavailable')
    if (admission.kind === 'admitted') await admission.call.end('success')
    const error = await closing.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LostUsageError)
    const { events } = error as LostUsageError
    await shop().send('/v1/sdk/usages/bulk', { events })
    expect(await product.left()).toBe(8)
  })

  test.each([
    [{ secretKey: '' }, 'secretKey'],
    [{ baseUrl: 'tollgate.example.com' }, 'baseUrl'],
    [{ units: 0.5 }, 'units'],
    [{ onUnavailable: 'maybe' as 'allow' }, 'onUnavailable'],
  ])('names the invalid option: %j', (wrong: Partial<PaywallOptions>, name) => {
    const right = { secretKey: 'sk_1', productRef: 'prd_1', baseUrl: 'http://127.0.0.1' }
    expect(() => createPaywall({ ...right, ...wrong })).toThrow(name)
  })
}
