import type { CustomerAuthParts as AppParts } from './customer-auth-parts.ts'
import type { CustomerAuthConfig } from './customer-auth-settings.ts'
import { Issuers, redirectPolicyOf, type IssuerParts } from './issuers.ts'
import type { Mailer } from './mailer.ts'
import type { RedirectPolicy } from './redirect-policy.ts'
import type { Upstreams } from '../upstream/upstreams.ts'

/** The parts that serve the sign-in of customers. */
export type CustomerAuth = {
  readonly config: CustomerAuthConfig
  readonly mailer: Mailer
  readonly upstreams: Upstreams['configured']
  readonly issuers: Issuers
  readonly policy: RedirectPolicy
  /** Returns the page for a request to the authorization endpoint that cannot continue. */
  readonly problemPage: IssuerParts['problemPage']
}

export function createCustomerAuth(
  parts: AppParts,
  problemPage: IssuerParts['problemPage'],
): CustomerAuth {
  const { config, mailer, upstreams } = parts.customerAuth
  return {
    config,
    mailer,
    upstreams: upstreams.configured,
    issuers: new Issuers({ ...parts, config, problemPage }),
    policy: redirectPolicyOf(config),
    problemPage,
  }
}
