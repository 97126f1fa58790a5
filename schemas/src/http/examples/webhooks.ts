import {
  eventApiVersion,
  eventEnvelopeSchema,
  eventTypesResponseSchema,
  type EventEnvelope,
} from '../webhooks.ts'
import { examplesOf } from './example.ts'
import { refs } from './story.ts'

/** A receiver can be written and tried against it. The amounts and references are made up. */
export const sampleEvent: EventEnvelope = {
  id: refs.event,
  type: 'payment.succeeded',
  created: 1_772_357_400,
  api_version: eventApiVersion,
  data: {
    object: {
      id: 'pi_3SAMPLE',
      amount: 4900,
      currency: 'usd',
      customer: refs.customer,
      product: refs.product,
      plan: refs.proPlan,
      processor_payment_intent: 'pi_3SAMPLE',
      transaction_reference: 'txn_6M1S4ZQA8KWX',
      created: 1_772_357_400,
    },
    previous_attributes: null,
  },
  livemode: false,
  request: { id: null, idempotency_key: null },
}

export const webhookExamples = {
  listEventTypes: {
    answer: examplesOf(eventTypesResponseSchema, {
      'One of the categories': [
        {
          category: 'customer',
          label: 'Customers',
          description: 'Who uses and pays',
          events: [
            { type: 'customer.created', description: 'A customer was created', status: 'live' },
          ],
        },
      ],
    }),
  },
  getSampleEvent: {
    answer: examplesOf(eventEnvelopeSchema, { 'A payment': sampleEvent }),
  },
}
