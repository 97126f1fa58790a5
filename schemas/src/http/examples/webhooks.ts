import { eventEnvelopeSchema, eventTypesResponseSchema } from '../webhooks.ts'
import { examplesOf } from './example.ts'
import { sampleEvent } from './events.ts'

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
    answer: examplesOf(eventEnvelopeSchema, {
      'A payment': sampleEvent('payment.succeeded'),
    }),
  },
}
