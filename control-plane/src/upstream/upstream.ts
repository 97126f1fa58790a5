import type { UpstreamIdentity } from '@tollgate/domain/customer-auth/upstream-identities'

export const upstreamNames = ['google', 'github'] as const

export type UpstreamName = (typeof upstreamNames)[number]

/** Values that the browser's return from the upstream must match. */
export type UpstreamChecks = {
  readonly state: string
  readonly nonce: string
  /** The code verifier of PKCE (RFC 7636). */
  readonly verifier: string
}

export type UpstreamAccount = {
  readonly identity: UpstreamIdentity
  /** Undefined if the upstream has not verified that the address belongs to the account. */
  readonly verifiedEmail: string | undefined
  readonly name: string | undefined
}

/** A service where people have an account with which they can sign in. */
export type Upstream = {
  readonly label: string
  /** Returns the address to send the browser to. Rejects if the upstream cannot be reached. */
  authorizeUrl(redirectUri: string, checks: UpstreamChecks): Promise<URL>
  /**
   * Returns the account that signed in. `callback` is the address, with its query, to which the upstream sent the browser. Rejects
   * if the upstream refused, cannot be reached, or sent a response that does not match `checks`.
   */
  account(callback: URL, checks: UpstreamChecks): Promise<UpstreamAccount>
}
