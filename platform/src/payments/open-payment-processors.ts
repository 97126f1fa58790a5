import type { Environment } from '@tollgate/schemas/environment'
import type { SettingValues } from '../config/settings.ts'
import type { PaymentProcessor } from './payment-processor.ts'
import { StripePaymentProcessor } from './stripe/stripe-payment-processor.ts'
import { stripeAccess, type stripeSettings } from './stripe/stripe-settings.ts'

/** The payment processor of each environment. An environment without one accepts no payments. */
export type PaymentProcessors = {
  of(environment: Environment): PaymentProcessor | undefined
  close(): Promise<void>
}

export function openPaymentProcessors(
  config: SettingValues<typeof stripeSettings>,
): PaymentProcessors {
  const open = (environment: Environment): PaymentProcessor | undefined => {
    const access = stripeAccess(config, environment)
    return access === undefined ? undefined : new StripePaymentProcessor(access)
  }
  const processors = { sandbox: open('sandbox'), live: open('live') }
  return {
    of: (environment) => processors[environment],
    close: async () => {
      await processors.sandbox?.close()
      await processors.live?.close()
    },
  }
}
