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
 * What happens in the business, by the names that webhooks tell it with, and what each of them tells. Types are only ever
 * added: receivers that asked for all of them get new ones too.
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

/** `data.object` of the type. */
export type EventObject<Type extends EventType> = z.infer<EventDefinitions[Type]['object']>

/** Types that tell what was before. */
export type ChangeType = {
  [Type in EventType]: EventDefinitions[Type] extends { previous: z.ZodObject } ? Type : never
}[EventType]

/** `data.previous_attributes` of the type. */
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
    description: 'Who uses and pays',
    events: customerEvents,
  },
  {
    category: 'purchase',
    label: 'Purchases & subscriptions',
    description: 'Who holds which plan, and until when',
    events: purchaseEvents,
  },
  {
    category: 'payment',
    label: 'Payments',
    description: 'Money that moved, or did not',
    events: paymentEvents,
  },
  {
    category: 'payout',
    label: 'Payouts',
    description: 'Money on its way to the provider',
    events: payoutEvents,
  },
  {
    category: 'checkout_session',
    label: 'Checkout sessions',
    description: 'Hosted payment pages',
    events: checkoutEvents,
  },
  {
    category: 'credit',
    label: 'Credits',
    description: 'Pre-paid wallets',
    events: creditEvents,
  },
  {
    category: 'usage',
    label: 'Usage',
    description: 'What was counted, and charged for',
    events: usageEvents,
  },
  {
    category: 'catalog',
    label: 'Catalog',
    description: 'Products and plans',
    events: catalogEvents,
  },
]
