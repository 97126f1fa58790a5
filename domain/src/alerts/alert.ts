/** What an alert is about: the limits of plans, the balance of a wallet, or what the usage of a period costs. */
export type AlertSubject = 'limit' | 'wallet' | 'spend'

/**
 * An amount that is reached from below, for a wallet from above. Percent are of the limit, or of the customer's budget for spend.
 * Amounts of money count only for plans of their currency.
 */
export type AlertThreshold =
  | { readonly percent: number }
  | { readonly units: number }
  | { readonly credits: number }
  | { readonly amountMinor: number; readonly currency: string }

export type Alert = {
  readonly reference: string
  readonly watches: AlertSubject
  /** Key of a charge or of a limit; null for every limit. */
  readonly limitKey: string | null
  /** At most one of the two is set. Both null: the default of the provider. */
  readonly planRef: string | null
  readonly customerRef: string | null
  /** Empty: no alert, in place of a less specific one. */
  readonly thresholds: readonly AlertThreshold[]
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Whose alerts apply to something. */
type Place = {
  readonly watches: AlertSubject
  readonly limitKey: string | null
  readonly planRef: string | null
}

/**
 * Returns the alert that applies: that of the customer, otherwise that of the plan, otherwise the default. Of each, an alert that
 * names the limit comes before one for every limit. `alerts` may not contain alerts of other customers.
 */
export function alertInEffect(
  alerts: readonly Alert[],
  { watches, limitKey, planRef }: Place,
): Alert | undefined {
  const applying = alerts.filter(
    (alert) =>
      alert.watches === watches &&
      (alert.limitKey === null || alert.limitKey === limitKey) &&
      (alert.planRef === null || alert.planRef === planRef),
  )
  return applying.reduce<Alert | undefined>(
    (best, alert) => (best === undefined || rank(alert) > rank(best) ? alert : best),
    undefined,
  )
}

function rank({ customerRef, planRef, limitKey }: Alert): number {
  return (customerRef !== null ? 4 : planRef !== null ? 2 : 0) + (limitKey === null ? 0 : 1)
}
