import { StripePaymentProcessor } from '@tollgate/platform/payments/stripe/stripe-payment-processor'
import { paymentProcessorContract } from '@tollgate/platform/testing/payment-processor-contract'
import { afterAll, beforeAll, describe } from 'vitest'
import { openSimulator, type SimulatorUnderTest } from './simulator-under-test.ts'

describe('against the simulator', () => {
  let opened: SimulatorUnderTest
  beforeAll(async () => void (opened = await openSimulator()))
  afterAll(() => opened.close())
  paymentProcessorContract(() => opened.processor)
})

const secretKey = process.env['TOLLGATE_TEST_STRIPE_SECRET_KEY'] ?? ''

describe.runIf(secretKey.startsWith('sk_test_'))('against Stripe', () => {
  const url = new URL('https://api.stripe.com')
  const processor = new StripePaymentProcessor({
    url,
    secretKey: secretKey === '' ? 'sk_test_none' : secretKey,
    webhookSecrets: [],
    isLive: false,
    timeoutMs: 20_000,
  })
  afterAll(() => processor.close())
  paymentProcessorContract(() => processor)
})
