import type { PaymentIntent, SetupIntent } from '../store/records.ts'

/** Placeholder for the URL of the simulator, which may be different when a stored answer is sent again. */
export const simulatorOrigin = 'https://simulator.invalid'

/** Returns a record as the API shows it: without the simulator's internal fields, and with the next action of an intent. */
export function present(record: object): object {
  return isIntent(record) ? presentIntent(record) : withoutInternalFields(record)
}

export function presentIntent(intent: PaymentIntent | SetupIntent): object {
  const { returnUrl } = intent.simulator
  const url = `${simulatorOrigin}/_simulator/3ds/${intent.id}?client_secret=${intent.client_secret}`
  const redirect = { type: 'redirect_to_url', redirect_to_url: { return_url: returnUrl, url } }
  const browser = {
    type: 'use_stripe_sdk',
    use_stripe_sdk: { type: 'three_d_secure_redirect', stripe_js: url },
  }
  const action = returnUrl === null ? browser : redirect
  return {
    ...withoutInternalFields(intent),
    next_action: intent.status === 'requires_action' ? action : null,
  }
}

function withoutInternalFields(record: object): object {
  const text = JSON.stringify(record, (key, value: unknown) =>
    key === 'simulator' ? undefined : value,
  )
  return JSON.parse(text) as object
}

function isIntent(record: object): record is PaymentIntent | SetupIntent {
  return (
    'object' in record && (record.object === 'payment_intent' || record.object === 'setup_intent')
  )
}
