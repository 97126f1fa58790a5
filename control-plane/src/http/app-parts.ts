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
import type { AskOutside } from '@tollgate/domain/unit-of-work/outside-question'
import type { Environment } from '@tollgate/schemas/environment'
import type { RequestClock } from '../access/request-clock.ts'
import type { CustomerAuthConfig } from '../customer-auth/customer-auth-settings.ts'
import type { Mailer } from '../customer-auth/mailer.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import type { EmailTransport } from '../emails/transport.ts'
import type { PeriodUsage } from '../limits/period-usage.ts'
import type { CardEntry } from '../pages/card-entry.ts'
import type { Previews } from '../previews/previews.ts'
import type { CorrectionParts } from '../usage-corrections/correction-parts.ts'
import type { Wallets } from '../wallets/wallets.ts'

/** All parts of the API. Each route and page declares only the parts that it uses. */
export type AppParts = TailParts &
  Pick<CorrectionParts, 'appendRecords' | 'correctionLimits'> & {
    /** Asks tax services of providers, outside of transactions. */
    readonly ask?: AskOutside | undefined
    /** Use it through `read` and `commit`. */
    readonly database: ProviderDatabases
    /** Reads rows of all providers. Only the publication of committed changes may use it, never a decision about a request. */
    readonly publisher: PublisherParts
    readonly hotState: HotState
    /** Returns the number of partitions of the environment's usage topic. */
    readonly partitionCount: (environment: Environment) => number
    /** Real time, or the time of a request's customer. */
    readonly clock: Clock
    readonly requestClock: RequestClock
    readonly logger: Logger
    readonly tracing: Tracing | undefined
    readonly eventLog: EventLog
    readonly usageStore: UsageStore
    readonly usage: PeriodUsage
    readonly wallets: Wallets
    readonly previews: Previews
    /** Shared secret of the services that use one data folder. Undefined if the hot state is not in a data folder. */
    readonly folderSecret: string | undefined
    /** Secret from which the keys of the installation's other services are derived. Undefined means that no service has a key. */
    readonly serviceSecret: string | undefined
    readonly payments: PaymentParts
    /** Encrypts provider secrets. */
    readonly secrets: Secrets
    /** Sends requests to addresses that providers configure, and judges such an address before any request. */
    readonly outbound: Pick<Outbound, 'of'>
    /** Address templates of the proxies of MCP products, with `{subdomain}` in place of the product's subdomain. */
    readonly mcpProxyUrls: Readonly<Record<Environment, string>>
    /** The parts of the sign-in of customers. */
    readonly customerAuth: {
      readonly config: CustomerAuthConfig
      readonly mailer: Mailer
      readonly upstreams: Upstreams
    }
    /** The destination of emails to customers. */
    readonly emailTransport: EmailTransport
    /** The parts of the sign-in to the console. */
    readonly console: ConsoleParts
    /** The OpenID Connect issuer of the console. Undefined if users sign in with a password only. */
    readonly openid: Upstream | undefined
    /** Address where customers open the hosted pages, without a trailing slash. */
    readonly hostedUrl: string
    /** File of the demo provider that the page at `/` shows to browsers of this machine. Empty if there is none. */
    readonly demoFile: string
    /** Publishable keys of the payment processor, for browsers. Empty if no processor is configured. */
    readonly publishableKeys: Readonly<Record<Environment, string>>
    /** How customers enter their card, by environment. */
    readonly cardEntries: Readonly<Record<Environment, CardEntry>>
    readonly limits: AppLimits
  }

export type AppLimits = SessionLimits & {
  /** How long a list waits until the counters include all records acknowledged before it, in milliseconds. */
  readonly countersWaitMs: number
  /** Maximum number of log records that are read for one response. */
  readonly tailRecordsMax: number
  /** How long a usage query waits until the store includes all records acknowledged before it, in milliseconds. */
  readonly usageStoreWaitMs: number
  /** How long a request waits for the outcome of a payment that the customer has confirmed, in milliseconds. */
  readonly paymentWaitMs: number
  /** Maximum number of discount codes that one customer may enter on checkouts per hour. */
  readonly discountCodesPerCustomerMax: number
  /** How long an MCP server may take to list all its tools, in milliseconds. */
  readonly mcpDiscoveryTimeoutMs: number
  /** Maximum duration of a reservation, in seconds. */
  readonly reservationSecondsMax: number
  /** Maximum time from the creation of a reservation to its expiry, in seconds. */
  readonly reservationLifetimeSecondsMax: number
  /** Maximum number of concurrent reservations of one customer and product. */
  readonly reservationsMax: number
  /** Maximum number of concurrent holds of one wallet. */
  readonly creditsHeldMax: number
  /** Maximum number of purchases in one list, because the wire contract has no paging for purchases. */
  readonly purchasesMax: number
  /** Maximum number of webhook endpoints of one provider. */
  readonly webhookEndpointsMax: number
  /** Minimum time between two test events to one endpoint, in milliseconds. */
  readonly webhookTestIntervalMs: number
  /** Days after which a test clock is deleted. */
  readonly testClockDays: number
  /** Maximum number of buckets in one usage response. */
  readonly bucketsMax: number
  /** Maximum number of usage files that are sent at the same time. */
  readonly usageExportsMax: number
  /** Maximum number of usage files of one provider that are sent at the same time. */
  readonly usageExportsPerProviderMax: number
  /** Maximum number of rows of one usage file. */
  readonly usageExportRowsMax: number
  /** Maximum duration of sending one usage file, in seconds. */
  readonly usageExportSecondsMax: number
  /** Maximum time in which a client may read nothing of its usage file, in seconds. */
  readonly usageExportStallSecondsMax: number
  /** How long the portal stays open after the customer used its link, in milliseconds. */
  readonly portalOpenMs: number
}
