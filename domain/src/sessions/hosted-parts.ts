/** What opening a hosted page takes. */
export type HostedParts = {
  /** Where customers reach the hosted pages, without a slash at its end. */
  readonly hostedUrl: string
  readonly limits: SessionLimits
}

export type SessionLimits = {
  /** Open checkouts of one customer that were issued with keys; the same number for each portal session. */
  readonly openCheckoutsMax: number
  /** Unused portal links of one customer. */
  readonly openPortalLinksMax: number
}
