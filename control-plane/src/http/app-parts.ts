import type { Clock } from '@tollgate/platform/clock/clock'
import type { ProviderDatabases } from '@tollgate/platform/database/database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import type { Outbound } from '@tollgate/platform/outbound/open-outbound'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { TailParts } from '@tollgate/domain/entitlements/tail-parts'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import type { SessionLimits } from '@tollgate/domain/sessions/hosted-parts'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { Environment } from '@tollgate/schemas/environment'
import type { CustomerAuthConfig } from '../customer-auth/customer-auth-settings.ts'
import type { Mailer } from '../customer-auth/mailer.ts'
import type { Upstreams } from '../customer-auth/upstream/upstreams.ts'
import type { PeriodUsage } from '../limits/period-usage.ts'
import type { CardEntry } from '../pages/card-entry.ts'
import type { Wallets } from '../wallets/wallets.ts'

/** All parts of the API. Routes and pages each declare the few that they use. */
export type AppParts = TailParts & {
  /** Through `read` and `commit`. */
  readonly database: ProviderDatabases
  /** Sees the rows of all providers: for publishing what was committed, and for nothing that a request decides. */
  readonly publisher: PublisherParts
  readonly hotState: HotState
  /** Partitions of the environment's usage topic. */
  readonly partitionCount: (environment: Environment) => number
  readonly clock: Clock
  readonly logger: Logger
  readonly tracing: Tracing | undefined
  readonly eventLog: EventLog
  readonly usageStore: UsageStore
  readonly usage: PeriodUsage
  readonly wallets: Wallets
  /** What the services of one data folder know each other by; undefined where the hot state is in none. */
  readonly folderSecret: string | undefined
  /** Keys of the installation's other services are made of it. Undefined means that no service has a key. */
  readonly serviceSecret: string | undefined
  readonly payments: PaymentParts
  /** What providers entrust to us is sealed with it. */
  readonly secrets: Secrets
  /** The way to addresses that providers give, and what of them can be refused at once. */
  readonly outbound: Pick<Outbound, 'of'>
  /** Where the proxies of MCP products are reached, with `{subdomain}` in place of the product's own. */
  readonly mcpProxyUrls: Readonly<Record<Environment, string>>
  /** Signing in of customers. */
  readonly customerAuth: {
    readonly config: CustomerAuthConfig
    readonly mailer: Mailer
    readonly upstreams: Upstreams
  }
  /** Signing in to the console. */
  readonly console: ConsoleParts
  /** Where customers reach the hosted pages, without a slash at its end. */
  readonly hostedUrl: string
  /** File of the demo provider that the page at `/` shows to browsers of this machine; '' where there is none. */
  readonly demoFile: string
  /** Of the payment processor, for browsers; '' where none is configured. */
  readonly publishableKeys: Readonly<Record<Environment, string>>
  /** Where customers enter their cards. */
  readonly cardEntries: Readonly<Record<Environment, CardEntry>>
  readonly limits: AppLimits
}

export type AppLimits = SessionLimits & {
  /** How long a list waits for the counters to reach what was acknowledged before it. */
  readonly countersWaitMs: number
  /** How long a usage query waits for the store to reach what was acknowledged before it. */
  readonly usageStoreWaitMs: number
  /** How long a payment is waited for that the customer has confirmed. */
  readonly paymentWaitMs: number
  /** How long an MCP server may take to tell all its tools. */
  readonly mcpDiscoveryTimeoutMs: number
  /** Seconds that a reservation may be held. */
  readonly reservationSecondsMax: number
  /** Reservations of one customer and product at a time. */
  readonly reservationsMax: number
  /** Holds of one wallet at a time. */
  readonly creditsHeldMax: number
  /** Purchases in one list; the wire has no paging for them. */
  readonly purchasesMax: number
  /** Webhook endpoints of one provider. */
  readonly webhookEndpointsMax: number
  /** Between two test events to one of them. */
  readonly webhookTestIntervalMs: number
  /** Buckets in one usage answer. */
  readonly bucketsMax: number
  /** How long the portal stays open after its link was used. */
  readonly portalOpenMs: number
}
