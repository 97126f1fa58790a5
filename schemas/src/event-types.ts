/*
 * What happens in the business, by the names that webhooks tell it with. Types are only ever added: receivers that asked
 * for all of them get new ones too.
 */

type EventType = { readonly type: string; readonly description: string }

type EventCategory = {
  readonly category: string
  readonly label: string
  readonly description: string
  readonly events: readonly EventType[]
}

/** Types of one category, each with what it tells. */
function typesOf(prefix: string, told: Readonly<Record<string, string>>): EventType[] {
  return Object.entries(told).map(([name, description]) => ({
    type: `${prefix}.${name}`,
    description,
  }))
}

export const eventCategories: readonly EventCategory[] = [
  {
    category: 'customer',
    label: 'Customers',
    description: 'Who uses and pays',
    events: typesOf('customer', {
      created: 'A customer was created',
      updated: 'Fields of a customer changed',
      deleted: 'A customer was deleted',
    }),
  },
  {
    category: 'purchase',
    label: 'Purchases & subscriptions',
    description: 'Who holds which plan, and until when',
    events: typesOf('purchase', {
      created: 'A purchase was made',
      activated: 'A purchase began to give access',
      updated: 'Fields of a purchase changed',
      trial_ending: 'A trial ends soon',
      trial_converted: 'A trial became a paid purchase',
      suspended: 'Access was suspended, because payments failed for good',
      past_due: 'A payment failed, and is tried again',
      cancellation_scheduled: 'A purchase will end with its period',
      cancelled: 'A purchase was cancelled and has ended',
      reactivated: 'A scheduled cancellation was taken back',
      expired: 'A purchase has come to its end',
      renewed: 'A new period began',
      renewal_reminder: 'A purchase renews soon',
      refunded: 'A purchase was paid back in full',
      plan_changed: 'A customer moved to another plan',
    }),
  },
  {
    category: 'payment',
    label: 'Payments',
    description: 'Money that moved, or did not',
    events: typesOf('payment', {
      succeeded: 'A payment succeeded',
      failed: 'A payment failed',
      refunded: 'A payment was refunded',
      refund_failed: 'A refund failed',
      refund_pending: 'A refund is on its way',
      canceled: 'A payment was canceled',
      disputed: 'A payment was disputed',
      dispute_closed: 'A dispute was closed',
    }),
  },
  {
    category: 'payout',
    label: 'Payouts',
    description: 'Money on its way to the provider',
    events: typesOf('payout', {
      paid: 'A payout arrived',
      failed: 'A payout failed',
    }),
  },
  {
    category: 'checkout_session',
    label: 'Checkout sessions',
    description: 'Hosted payment pages',
    events: typesOf('checkout_session', {
      created: 'A checkout page was opened',
      completed: 'A checkout was completed',
      expired: 'A checkout was abandoned',
    }),
  },
  {
    category: 'credit',
    label: 'Credits',
    description: 'Pre-paid wallets',
    events: typesOf('customer.credit', {
      topped_up: 'Credits were bought',
      low_balance: 'The balance fell below its threshold',
      exhausted: 'The balance fell to zero',
      debited: 'Usage was paid with credits',
      granted: 'Credits were given',
      adjusted: 'The balance was corrected by hand',
      auto_topup_failed: 'An automatic top-up failed',
    }),
  },
  {
    category: 'usage',
    label: 'Usage',
    description: 'What was counted, and charged for',
    events: typesOf('usage', {
      charged: 'Usage of a period was charged',
      recorded: 'Usage was recorded',
      reset: 'A new period began to count from zero',
    }),
  },
  {
    category: 'catalog',
    label: 'Catalog',
    description: 'Products and plans',
    events: [
      ...typesOf('product', {
        created: 'A product was created',
        updated: 'Fields of a product changed',
        archived: 'A product was taken off sale',
      }),
      ...typesOf('plan', {
        created: 'A plan was created',
        updated: 'Fields of a plan changed',
        archived: 'A plan was taken off sale',
      }),
    ],
  },
]
