import { z } from 'zod'
import { presentBalance } from '../objects/balance.ts'
import {
  createCustomer,
  deleteCustomer,
  requireCustomer,
  updateCustomer,
} from '../objects/customers.ts'
import { closeDispute, submitEvidence } from '../objects/disputes.ts'
import {
  cancelPaymentIntent,
  confirmPaymentIntent,
  createPaymentIntent,
  updatePaymentIntent,
} from '../objects/payment-intents.ts'
import {
  attachPaymentMethod,
  createPaymentMethod,
  detachPaymentMethod,
} from '../objects/payment-methods.ts'
import { cancelPayout, createPayout } from '../objects/payouts.ts'
import { present, presentIntent } from '../objects/present.ts'
import type { Kind } from '../store/records.ts'
import { createRefund } from '../objects/refunds.ts'
import {
  cancelSetupIntent,
  confirmSetupIntent,
  createSetupIntent,
} from '../objects/setup-intents.ts'
import { ok } from '../answer.ts'
import { isWithin, listPage } from './list-page.ts'
import {
  currency,
  expand,
  flag,
  integer,
  metadata,
  page,
  text,
  timeRange,
} from './read-parameters.ts'
import { route, type Route } from './route.ts'
import { webhookEndpointRoutes } from './webhook-endpoint-routes.ts'

const common = { expand: expand.optional() }
const noParameters = z.strictObject(common)
const forBrowsers = { isForBrowsers: true } as const
/** Parameters with which a browser proves that an intent belongs to it. */
const browserCredentials = { client_secret: text.optional(), key: text.optional() }

const customerFields = {
  ...common,
  email: text.optional(),
  name: text.optional(),
  description: text.optional(),
  metadata: metadata.optional(),
  invoice_settings: z.strictObject({ default_payment_method: text.optional() }).optional(),
}

const customers: readonly Route[] = [
  route('POST', '/v1/customers', z.strictObject(customerFields), (work, change) =>
    ok(present(createCustomer(work, change))),
  ),
  route('GET', '/v1/customers/:id', noParameters, (work, _, id) => {
    const customer = work.require('customer', id)
    const isGone = customer.deleted === true
    return ok(isGone ? { id, object: 'customer', deleted: true } : present(customer))
  }),
  route('POST', '/v1/customers/:id', z.strictObject(customerFields), (work, change, id) =>
    ok(present(updateCustomer(work, id, change))),
  ),
  route('DELETE', '/v1/customers/:id', noParameters, (work, _, id) => ok(deleteCustomer(work, id))),
  route(
    'GET',
    '/v1/customers',
    z.strictObject({ ...page, email: text.optional(), created: timeRange.optional() }),
    (work, { email, created, ...options }) =>
      ok(
        listPage(
          work,
          'customer',
          '/v1/customers',
          options,
          (each) =>
            each.deleted !== true &&
            (email === undefined || each.email === email) &&
            isWithin(created, each.created),
        ),
      ),
  ),
]

const cardFields = z.strictObject({
  number: text,
  exp_month: integer,
  exp_year: integer,
  cvc: text.optional(),
})

const paymentMethods: readonly Route[] = [
  route(
    'POST',
    '/v1/payment_methods',
    z.strictObject({
      ...common,
      ...browserCredentials,
      type: z.literal('card'),
      card: cardFields,
      billing_details: z.strictObject({ name: text.optional(), email: text.optional() }).optional(),
    }),
    (work, { card, billing_details }) =>
      ok(present(createPaymentMethod(work, card, billing_details))),
    forBrowsers,
  ),
  route(
    'POST',
    '/v1/payment_methods/:id/attach',
    z.strictObject({ ...common, customer: text }),
    (work, { customer }, id) => ok(present(attachPaymentMethod(work, id, customer))),
  ),
  route('POST', '/v1/payment_methods/:id/detach', noParameters, (work, _, id) =>
    ok(present(detachPaymentMethod(work, id))),
  ),
  route(
    'GET',
    '/v1/payment_methods',
    z.strictObject({ ...page, customer: text, type: z.literal('card').optional() }),
    (work, { customer, ...options }) => {
      requireCustomer(work, customer, 'customer')
      const owned = { ...options, owner: customer }
      return ok(
        listPage(
          work,
          'payment_method',
          '/v1/payment_methods',
          owned,
          (each) => each.customer === customer,
        ),
      )
    },
  ),
]

const confirmationFields = {
  payment_method: text.optional(),
  off_session: z.union([flag, z.enum(['one_off', 'recurring']).transform(() => true)]).optional(),
  return_url: z.url().optional(),
}
const allowedTypes = { allowed_payment_method_types: z.array(z.literal('card')).optional() }
const cancellation = z.strictObject({
  ...common,
  cancellation_reason: z
    .enum(['abandoned', 'duplicate', 'fraudulent', 'requested_by_customer'])
    .optional(),
})
const customerFilter = z.strictObject({
  ...page,
  customer: text.optional(),
  created: timeRange.optional(),
})

const intents: readonly Route[] = [
  route(
    'POST',
    '/v1/payment_intents',
    z.strictObject({
      ...common,
      ...confirmationFields,
      ...allowedTypes,
      amount: integer,
      currency,
      customer: text.optional(),
      description: text.optional(),
      metadata: metadata.optional(),
      setup_future_usage: z.enum(['off_session', 'on_session']).optional(),
      confirm: flag.optional(),
    }),
    createPaymentIntent,
  ),
  route(
    'GET',
    '/v1/payment_intents/:id',
    z.strictObject({ ...common, ...browserCredentials }),
    (work, _, id) => ok(presentIntent(work.require('payment_intent', id))),
    forBrowsers,
  ),
  route(
    'POST',
    '/v1/payment_intents/:id',
    z.strictObject({
      ...common,
      amount: integer.optional(),
      description: text.optional(),
      metadata: metadata.optional(),
    }),
    (work, change, id) => updatePaymentIntent(work, id, change),
  ),
  route(
    'POST',
    '/v1/payment_intents/:id/confirm',
    z.strictObject({ ...common, ...browserCredentials, ...confirmationFields }),
    (work, given, id) => confirmPaymentIntent(work, id, given),
    forBrowsers,
  ),
  route('POST', '/v1/payment_intents/:id/cancel', cancellation, (work, given, id) =>
    cancelPaymentIntent(work, id, given.cancellation_reason),
  ),
  route('GET', '/v1/payment_intents', customerFilter, (work, { customer, created, ...options }) =>
    ok(
      listPage(
        work,
        'payment_intent',
        '/v1/payment_intents',
        { ...options, owner: customer },
        (each) => isWithin(created, each.created),
      ),
    ),
  ),
  route(
    'POST',
    '/v1/setup_intents',
    z.strictObject({
      ...common,
      ...confirmationFields,
      ...allowedTypes,
      customer: text.optional(),
      description: text.optional(),
      metadata: metadata.optional(),
      usage: z.enum(['off_session', 'on_session']).optional(),
      confirm: flag.optional(),
    }),
    createSetupIntent,
  ),
  route(
    'GET',
    '/v1/setup_intents/:id',
    z.strictObject({ ...common, ...browserCredentials }),
    (work, _, id) => ok(presentIntent(work.require('setup_intent', id))),
    forBrowsers,
  ),
  route(
    'POST',
    '/v1/setup_intents/:id/confirm',
    z.strictObject({ ...common, ...browserCredentials, ...confirmationFields }),
    (work, given, id) => confirmSetupIntent(work, id, given),
    forBrowsers,
  ),
  route('POST', '/v1/setup_intents/:id/cancel', cancellation, (work, given, id) =>
    cancelSetupIntent(work, id, given.cancellation_reason),
  ),
]

/** Returns routes that read an object by id, and list objects by their owner. */
function readRoutes(kind: Kind, path: string, owners: readonly string[]): readonly Route[] {
  const filters = Object.fromEntries(owners.map((owner) => [owner, text.optional()]))
  const schema = z.strictObject({ ...page, created: timeRange.optional(), ...filters })
  return [
    route('GET', `${path}/:id`, noParameters, (work, _, id) => ok(present(work.require(kind, id)))),
    route('GET', path, schema, (work, { limit, starting_after, created, ...rest }) => {
      const given = rest as Readonly<Record<string, string | undefined>>
      const owner = owners.map((name) => given[name]).find((id) => id !== undefined)
      return ok(
        listPage(work, kind, path, { limit, starting_after, owner }, (each) =>
          isWithin(created, each.created),
        ),
      )
    }),
  ]
}

const money: readonly Route[] = [
  ...readRoutes('payment_method', '/v1/payment_methods', []).slice(0, 1),
  ...readRoutes('setup_intent', '/v1/setup_intents', ['customer']).slice(1),
  ...readRoutes('charge', '/v1/charges', ['customer', 'payment_intent']),
  ...readRoutes('refund', '/v1/refunds', ['charge', 'payment_intent']),
  ...readRoutes('dispute', '/v1/disputes', ['charge']),
  ...readRoutes('payout', '/v1/payouts', []),
  ...readRoutes('balance_transaction', '/v1/balance_transactions', ['source']),
  route('GET', '/v1/balance', noParameters, (work) => ok(presentBalance(work))),
  route(
    'POST',
    '/v1/refunds',
    z.strictObject({
      ...common,
      charge: text.optional(),
      payment_intent: text.optional(),
      amount: integer.optional(),
      reason: z.enum(['duplicate', 'fraudulent', 'requested_by_customer']).optional(),
      metadata: metadata.optional(),
    }),
    (work, wanted) => ok(present(createRefund(work, wanted))),
  ),
  route(
    'POST',
    '/v1/disputes/:id',
    z.strictObject({
      ...common,
      evidence: z.strictObject({ uncategorized_text: text.optional() }).optional(),
      submit: flag.optional(),
    }),
    (work, { evidence }, id) => ok(present(submitEvidence(work, id, evidence?.uncategorized_text))),
  ),
  route('POST', '/v1/disputes/:id/close', noParameters, (work, _, id) =>
    ok(present(closeDispute(work, id, 'lost'))),
  ),
  route(
    'POST',
    '/v1/payouts',
    z.strictObject({
      ...common,
      amount: integer,
      currency,
      description: text.optional(),
      metadata: metadata.optional(),
    }),
    (work, wanted) => ok(present(createPayout(work, wanted))),
  ),
  route('POST', '/v1/payouts/:id/cancel', noParameters, (work, _, id) =>
    ok(present(cancelPayout(work, id))),
  ),
]

const events: readonly Route[] = [
  route('GET', '/v1/events/:id', noParameters, (work, _, id) =>
    ok(present(work.require('event', id))),
  ),
  route(
    'GET',
    '/v1/events',
    z.strictObject({
      ...page,
      type: text.optional(),
      types: z.array(text).max(20).optional(),
      created: timeRange.optional(),
    }),
    (work, { type, types, created, ...options }) =>
      ok(
        listPage(
          work,
          'event',
          '/v1/events',
          options,
          (each) =>
            (type === undefined || each.type === type) &&
            (types === undefined || types.includes(each.type)) &&
            isWithin(created, each.created),
        ),
      ),
  ),
]

/** All operations of Stripe's API that the simulator supports. */
export const routes: readonly Route[] = [
  ...customers,
  ...paymentMethods,
  ...intents,
  ...money,
  ...events,
  ...webhookEndpointRoutes,
]
