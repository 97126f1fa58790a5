import type { Environment } from '@tollgate/schemas/environment'
import type { SettingValues } from '../config/settings.ts'
import type { PaymentProcessor } from './payment-processor.ts'
import { stripeAccess, type stripeSettings } from './stripe/stripe-settings.ts'

/** The payment processor of each environment. An environment without one accepts no payments. */
export type PaymentProcessors = {
  of(environment: Environment): PaymentProcessor | undefined
  close(): Promise<void>
}

export async function openPaymentProcessors(
  config: SettingValues<typeof stripeSettings>,
): Promise<PaymentProcessors> {
  const open = async (environment: Environment): Promise<PaymentProcessor | undefined> => {
    const access = stripeAccess(config, environment)
    if (access === undefined) return undefined
    // Imported here, so that a start without a payment processor does not load its client.
    const { StripePaymentProcessor } = await import('./stripe/stripe-payment-processor.ts')
    return new StripePaymentProcessor(access)
  }
  const processors = { sandbox: await open('sandbox'), live: await open('live') }
  return {
    of: (environment) => processors[environment],
    close: async () => {
      await processors.sandbox?.close()
      await processors.live?.close()
    },
  }
}
