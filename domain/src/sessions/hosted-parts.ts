/** Dependencies of opening a hosted page. */
export type HostedParts = {
  /** Base URL of the hosted pages, without a trailing slash. */
  readonly hostedUrl: string
  readonly limits: SessionLimits
}

export type SessionLimits = {
  /**
   * Maximum number of open checkouts of one customer that were issued with keys. The same maximum applies to each portal session.
   */
  readonly openCheckoutsMax: number
  /** Maximum number of unused portal links of one customer. */
  readonly openPortalLinksMax: number
}
