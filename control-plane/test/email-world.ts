import { setTimeout as sleep } from 'node:timers/promises'
import { insertOutboxEvents } from '@tollgate/domain/outbox/repository'
import { generateEventId } from '@tollgate/domain/unit-of-work/generate-event-id'
import type { Environment } from '@tollgate/schemas/environment'
import type { EventType } from '@tollgate/schemas/event-types'
import { emailKinds, type EmailBody } from '@tollgate/schemas/http/emails'
import { sampleEvent } from '@tollgate/schemas/http/examples/events'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/** Short intervals, so that tests need not wait. */
const emailSettings = {
  TOLLGATE_HOSTED_URL: 'http://127.0.0.1:8787',
  TOLLGATE_CUSTOMER_AUTH_INBOX: 'on',
  TOLLGATE_EMAIL_POLL_MS: '20',
  TOLLGATE_EMAIL_RETRY_DELAYS_SECONDS: '0,0,3600',
}

/** Settings of a control plane that sends emails through the server. */
export function smtpSettings(url: string): Record<string, string> {
  return { TOLLGATE_SMTP_URL: url, TOLLGATE_SMTP_FROM: 'Billing <billing@tollgate.example>' }
}

export function startEmailStack(settings: Record<string, string> = {}): Promise<TestStack> {
  return startTestStack({ settings: { ...emailSettings, ...settings } })
}

/** A provider that sends all kinds of email, in one environment. */
export class EmailWorld {
  readonly stack: TestStack
  readonly tenant: Tenant
  readonly environment: Environment
  readonly key: string

  private constructor(stack: TestStack, tenant: Tenant, environment: Environment) {
    this.stack = stack
    this.tenant = tenant
    this.environment = environment
    this.key = environment === 'live' ? tenant.liveKey : tenant.sandboxKey
  }

  static async open(
    stack: TestStack,
    environment: Environment,
    settings: object = { kinds: emailKinds },
  ): Promise<EmailWorld> {
    const world = new EmailWorld(stack, await stack.createTenant(), environment)
    await world.send('PATCH', '/v1/ui/email-settings', settings)
    return world
  }

  /** Sends a request that must succeed. Returns the body. */
  async send<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.stack.call<Body>(this.key, method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  async createCustomer(email: string, fields: object = {}): Promise<string> {
    const path = '/v1/sdk/customers'
    const { reference } = await this.send<{ reference: string }>('POST', path, { email, ...fields })
    return reference
  }

  /** Emits sample events about a customer. Returns the ids of their emails. */
  async emit(
    type: EventType,
    customerRefs: readonly string[],
    fields: JsonObject = {},
  ): Promise<string[]> {
    const { data } = sampleEvent(type)
    const now = new Date(this.stack.clock.now())
    const named = 'customerId' in data.object ? 'customerId' : 'customer'
    const events = customerRefs.map((customerRef) => ({
      eventId: generateEventId(now),
      providerId: this.tenant.providerId,
      type,
      livemode: this.environment === 'live',
      object: { ...data.object, ...fields, [named]: customerRef },
      previousAttributes: data.previous_attributes,
      requestId: null,
      idempotencyKey: null,
      createdAt: now,
    }))
    await insertOutboxEvents(this.stack.database.in(this.environment), events)
    return events.map(({ eventId }) => `eml_${eventId.slice(4)}`)
  }

  getEmail(emailId: string): Promise<EmailBody> {
    return this.send('GET', `/v1/ui/emails/${emailId}`)
  }

  /** Waits until the email has the state. */
  async awaitEmail(emailId: string, state: EmailBody['state']): Promise<EmailBody> {
    for (let round = 0; round < 1_000; round += 1) {
      const email = await this.getEmail(emailId)
      if (email.state === state) return email
      await sleep(20)
    }
    throw new Error(`still not ${state}: ${JSON.stringify(await this.getEmail(emailId))}`)
  }
}
