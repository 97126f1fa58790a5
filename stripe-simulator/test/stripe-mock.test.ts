import { paymentProcessorContract } from '@tollgate/platform/testing/payment-processor-contract'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '@tollgate/platform/testing/free-ports'
import { startMirror, type Mirror } from './mirror.ts'
import { openSimulator, processorAt, type SimulatorUnderTest } from './simulator-under-test.ts'
import { hasGo, installStripeMock, startStripeMock, type RunningMock } from './stripe-mock.ts'
import { StripeSchemas } from './stripe-schemas.ts'

const installWithinMs = 600_000

/*
 * Tests the contract again. Every request is also sent to Stripe's stripe-mock, which knows all parameters, and every answer of the
 * simulator is validated against Stripe's description of its objects.
 */
describe.runIf(hasGo)("the simulator and Stripe's API description", () => {
  let opened: SimulatorUnderTest
  let mock: RunningMock
  let mirror: Mirror
  let processor: PaymentProcessor
  let schemas: StripeSchemas

  beforeAll(async () => {
    const installed = await installStripeMock()
    schemas = await StripeSchemas.read(installed.specification)
    mock = await startStripeMock(installed.program, await freePort())
    opened = await openSimulator()
    mirror = await startMirror(opened.simulator.url, mock.url)
    processor = processorAt(mirror.url)
  }, installWithinMs)

  afterAll(async () => {
    await processor.close()
    await mirror.close()
    await opened.close()
    await mock.stop()
  })

  paymentProcessorContract(() => processor)

  test('accept every request of the contract', () => {
    expect(mirror.exchanges.length).toBeGreaterThan(80)
    const refused = mirror.exchanges.filter(({ mirroredStatus }) => mirroredStatus !== 200)
    expect(refused.map(({ request, mirroredAnswer }) => [request, mirroredAnswer])).toEqual([])
  })

  test('allow every answer of the simulator', () => {
    const answers = mirror.exchanges.filter(({ status }) => status === 200)
    expect(new Set(answers.flatMap(({ answer }) => schemas.validate(answer)))).toEqual(new Set())
  })

  test.each([
    'events',
    'disputes',
    'payouts',
    'balance',
    'balance_transactions',
    'webhook_endpoints',
  ])('allow the listed %s of the simulator', async (path) => {
    const headers = { authorization: 'Bearer sk_test_1' }
    const post = (target: string, form: Record<string, string>): Promise<Response> =>
      fetch(`${opened.simulator.url}/v1/${target}`, {
        method: 'POST',
        headers,
        body: new URLSearchParams(form),
      })
    await post('webhook_endpoints', { url: 'http://127.0.0.1:9/', 'enabled_events[0]': 'none' })
    for (const payment_method of ['pm_card_bypassPending', 'pm_card_createDispute']) {
      const payment = {
        amount: payment_method === 'pm_card_createDispute' ? '5000' : '50000',
        currency: 'usd',
        confirm: 'true',
        payment_method,
      }
      expect((await post('payment_intents', payment)).status).toBe(200)
    }
    expect((await post('payouts', { amount: '1000', currency: 'usd' })).status).toBe(200)
    const shown = await fetch(
      `${opened.simulator.url}/v1/${path}?${path === 'balance' ? '' : 'limit=100'}`,
      { headers },
    )
    const answer = (await shown.json()) as { data?: readonly unknown[] }
    if (path !== 'balance') expect(answer.data?.length).toBeGreaterThan(0)
    expect(new Set(schemas.validate(answer))).toEqual(new Set())
  })

  test('refuse unknown parameters and fields', async () => {
    const asked = await fetch(`${mock.url}/v1/payment_intents`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk_test_1' },
      body: new URLSearchParams({ amount: '1', currency: 'usd', no_such_parameter: '1' }),
    })
    expect(asked.status).toBe(400)
    const payout = { object: 'payout', id: 1, no_such_field: true }
    expect(schemas.validate(payout).length).toBeGreaterThan(0)
  })
})
