import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Outbound } from '@tollgate/platform/outbound/open-outbound'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import type { Environment } from '@tollgate/schemas/environment'
import type { ReadParts } from '../access/read.ts'
import type { CustomerAuthConfig } from './customer-auth-settings.ts'
import type { Mailer } from './mailer.ts'
import type { Upstreams } from '../upstream/upstreams.ts'

/** The parts that the authorization servers of customers use. */
export type CustomerAuthParts = ReadParts & {
  readonly publisher: PublisherParts
  readonly secrets: Secrets
  readonly clock: Clock
  readonly outbound: Pick<Outbound, 'of'>
  readonly logger: Logger
  readonly mcpProxyUrls: Readonly<Record<Environment, string>>
  readonly hostedUrl: string
  readonly customerAuth: CustomerAuthSetup
}

export type CustomerAuthSetup = {
  readonly config: CustomerAuthConfig
  readonly mailer: Mailer
  readonly upstreams: Upstreams
}
