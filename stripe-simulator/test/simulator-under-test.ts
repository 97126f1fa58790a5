import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import { StripePaymentProcessor } from '@tollgate/platform/payments/stripe/stripe-payment-processor'
import { startSimulator, type Simulator, type SimulatorOptions } from '../src/simulator.ts'

export const webhookSecret = 'whsec_test'

export type SimulatorUnderTest = {
  readonly simulator: Simulator
  readonly processor: PaymentProcessor
  /** Calls the simulator's own API. Throws if it refuses the request. */
  admin(path: string, body?: object): Promise<Readonly<Record<string, unknown>>>
  close(): Promise<void>
}

export async function openSimulator(
  options: SimulatorOptions & { readonly timeoutMs?: number } = {},
): Promise<SimulatorUnderTest> {
  const errors: unknown[] = []
  const simulator = await startSimulator({ onError: (error) => errors.push(error), ...options })
  const processor = processorAt(simulator.url, options.timeoutMs)
  return {
    simulator,
    processor,
    admin: (path, body = {}) => callAdmin(simulator.url, path, body),
    close: async () => {
      await processor.close()
      await simulator.stop()
      if (errors.length > 0) throw new AggregateError(errors, 'The simulator has a bug.')
    },
  }
}

export function processorAt(url: string, timeoutMs = 5_000): PaymentProcessor {
  return new StripePaymentProcessor({
    url: new URL(url),
    secretKey: 'sk_test_1',
    webhookSecrets: [webhookSecret],
    isLive: false,
    timeoutMs,
  })
}

async function callAdmin(
  url: string,
  path: string,
  body: object,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${url}/_simulator/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as Readonly<Record<string, unknown>>
  if (!response.ok) throw new Error(JSON.stringify(answer))
  return answer
}
