import type { z } from 'zod'
import { catalogEvents } from './events/catalog-events.ts'
import { checkoutEvents } from './events/checkout-events.ts'
import { creditEvents } from './events/credit-events.ts'
import { customerEvents } from './events/customer-events.ts'
import { paymentEvents, payoutEvents } from './events/payment-events.ts'
import { purchaseEvents } from './events/purchase-events.ts'
import { usageEvents } from './events/usage-events.ts'
import type { EventDefinition } from './events/event.ts'

/*
 * The event types of webhooks and the fields of each. Types are only added: receivers that subscribed to all types get new ones
 * too.
 */

export const eventDefinitions = {
  ...customerEvents,
  ...purchaseEvents,
  ...paymentEvents,
  ...payoutEvents,
  ...checkoutEvents,
  ...creditEvents,
  ...usageEvents,
  ...catalogEvents,
}

type EventDefinitions = typeof eventDefinitions

export type EventType = keyof EventDefinitions

export const eventTypes = Object.keys(eventDefinitions) as EventType[]

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(eventDefinitions, text)
}

/** The type of `data.object` of an event type. */
export type EventObject<Type extends EventType> = z.infer<EventDefinitions[Type]['object']>

/** Event types whose events also contain previous values. */
export type ChangeType = {
  [Type in EventType]: EventDefinitions[Type] extends { previous: z.ZodObject } ? Type : never
}[EventType]

/** The type of `data.previous_attributes` of an event type. */
export type PreviousAttributes<Type extends ChangeType> = z.infer<
  EventDefinitions[Type]['previous']
>

type EventCategory = {
  readonly category: string
  readonly label: string
  readonly description: string
  readonly events: Readonly<Record<string, EventDefinition>>
}

export const eventCategories: readonly EventCategory[] = [
  {
    category: 'customer',
    label: 'Customers',
    description: 'Customers of the provider',
    events: customerEvents,
  },
  {
    category: 'purchase',
    label: 'Purchases & subscriptions',
    description: 'Purchases of plans and their states',
    events: purchaseEvents,
  },
  {
    category: 'payment',
    label: 'Payments',
    description: 'Payments, refunds and disputes',
    events: paymentEvents,
  },
  {
    category: 'payout',
    label: 'Payouts',
    description: 'Payouts to the provider',
    events: payoutEvents,
  },
  {
    category: 'checkout_session',
    label: 'Checkout sessions',
    description: 'Hosted checkout pages',
    events: checkoutEvents,
  },
  {
    category: 'credit',
    label: 'Credits',
    description: 'Prepaid wallets',
    events: creditEvents,
  },
  {
    category: 'usage',
    label: 'Usage',
    description: 'Recorded and charged usage',
    events: usageEvents,
  },
  {
    category: 'catalog',
    label: 'Catalog',
    description: 'Products and plans',
    events: catalogEvents,
  },
]
