/** Which stores the installation runs itself. The environment names servers for the others. */
export type OwnStores = {
  readonly log: boolean
  readonly hotState: boolean
  readonly postgres: boolean
  readonly clickhouse: boolean
}

/** Returns which stores the installation runs itself. A store is external only if a setting names its server. */
export function ownStores(environment: Readonly<Record<string, string | undefined>>): OwnStores {
  const isGiven = (name: string): boolean => (environment[name] ?? '') !== ''
  return {
    log: environment['TOLLGATE_EVENT_LOG'] !== 'kafka',
    hotState: environment['TOLLGATE_HOT_STATE'] !== 'redis',
    postgres: !isGiven('TOLLGATE_DATABASE_URL'),
    clickhouse: !isGiven('TOLLGATE_CLICKHOUSE_URL'),
  }
}

/**
 * Returns whether payments are simulated. If only one environment has a key of Stripe, the other takes no payments, so that
 * simulated payments never mix with real ones.
 */
export function simulatesStripe(
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  const keys = ['TOLLGATE_STRIPE_SANDBOX_SECRET_KEY', 'TOLLGATE_STRIPE_LIVE_SECRET_KEY']
  return keys.every((name) => (environment[name] ?? '') === '')
}
