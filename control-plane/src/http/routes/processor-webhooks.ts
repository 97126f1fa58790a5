import { receiveEvents } from '@tollgate/domain/payments/inbox-repository'
import { processorOf, type PaymentParts } from '@tollgate/domain/payments/payment-parts'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'

type Parts = {
  readonly publisher: PublisherParts
  readonly clock: Clock
  readonly logger: Logger
  readonly payments: PaymentParts
}

/**
 * Registers the webhook endpoints for Stripe. An event is stored and acknowledged; duplicates are stored once. The inbox job
 * processes it later. Only the signature over the raw bytes authenticates the sender.
 */
export async function registerProcessorWebhookRoutes(app: ApiServer, parts: Parts): Promise<void> {
  await app.register((instance, _options, done) => {
    instance.removeAllContentTypeParsers()
    instance.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => {
      parsed(null, body)
    })
    for (const environment of environments) {
      instance.post(
        `/webhooks/stripe/${environment}`,
        { schema: { hide: true } },
        async ({ body, headers }) => {
          const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
          const signature = headers['stripe-signature']
          await receiveWebhook(
            parts,
            environment,
            bytes,
            typeof signature === 'string' ? signature : '',
          )
          return { received: true }
        },
      )
    }
    done()
  })
}

async function receiveWebhook(
  { payments, publisher, clock, logger }: Parts,
  environment: Environment,
  bytes: Uint8Array,
  signature: string,
): Promise<void> {
  const now = new Date(clock.now())
  const verified = processorOf(payments, environment).verifyWebhook(bytes, signature, now)
  if (verified.verdict === 'rejected') {
    logger.warn(
      { reason: verified.reason, environment },
      'refused a webhook of the payment processor',
    )
    throw refusals.webhookRejected(verified.reason)
  }
  await receiveEvents(publisher.database.in(environment), [verified.event], now)
}
