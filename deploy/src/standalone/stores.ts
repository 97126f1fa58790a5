/** Which stores the installation runs itself; the others are servers that its environment names. */
export type OwnStores = {
  readonly log: boolean
  readonly hotState: boolean
  readonly postgres: boolean
  readonly clickhouse: boolean
}

/** Every store is its own unless a setting says where another one is. */
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
 * Whether payments are simulated. With a key of Stripe for one environment alone, the other takes no payments: nothing
 * pretends to be paid beside what is.
 */
export function simulatesStripe(
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  const keys = ['TOLLGATE_STRIPE_SANDBOX_SECRET_KEY', 'TOLLGATE_STRIPE_LIVE_SECRET_KEY']
  return keys.every((name) => (environment[name] ?? '') === '')
}
