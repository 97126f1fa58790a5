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
  /** Undefined: the upstream has not verified that the address is the account's. */
  readonly verifiedEmail: string | undefined
  readonly name: string | undefined
}

/** A service where customers have an account that they can sign in with. */
export type Upstream = {
  readonly label: string
  /** Returns the address to send the browser to. Rejects if the upstream cannot be reached. */
  authorizeUrl(redirectUri: string, checks: UpstreamChecks): Promise<URL>
  /**
   * Returns who came back. `callback` is the address that the browser was sent to, with its query. Rejects if the upstream
   * refused, cannot be reached, or has answered with anything but what belongs to `checks`.
   */
  account(callback: URL, checks: UpstreamChecks): Promise<UpstreamAccount>
}
