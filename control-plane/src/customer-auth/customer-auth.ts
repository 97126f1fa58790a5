import type { AppParts } from '../http/app-parts.ts'
import type { CustomerAuthConfig } from './customer-auth-settings.ts'
import { Issuers, redirectPolicyOf, type IssuerParts } from './issuers.ts'
import type { Mailer } from './mailer.ts'
import type { RedirectPolicy } from './redirect-policy.ts'

/** The parts that serve the sign-in of customers. */
export type CustomerAuth = {
  readonly config: CustomerAuthConfig
  readonly mailer: Mailer
  readonly issuers: Issuers
  readonly policy: RedirectPolicy
}

export function createCustomerAuth(
  parts: AppParts,
  problemPage: IssuerParts['problemPage'],
): CustomerAuth {
  const { config, mailer } = parts.customerAuth
  return {
    config,
    mailer,
    issuers: new Issuers({ ...parts, config, problemPage }),
    policy: redirectPolicyOf(config),
  }
}
