export type PaywallOptions = {
  /** Secret key of the provider. The scope `ingest` is sufficient. The key determines whether sandbox or live is used. */
  readonly secretKey: string
  /** Reference of the product that customers buy, `prd_…`. */
  readonly productRef: string
  /** Base URL of Tollgate, such as `https://tollgate.example.com`. */
  readonly baseUrl: string
  /** Units that each call uses: a whole number up to 100,000. Default: 1. */
  readonly units?: number
  /**
   * `hold` holds the units of a call before it starts, so that concurrent calls never exceed a limit together. `check` only checks
   * whether the customer is below the limit, which is cheaper, but concurrent calls may exceed it. Default: `hold`.
   */
  readonly admission?: 'hold' | 'check'
  /** Seconds after which a hold expires. Use more than your longest call takes. Default: 60. */
  readonly holdSeconds?: number
  /** What happens to calls while Tollgate is unavailable. With `allow` they are served, and recorded later. Default: `refuse`. */
  readonly onUnavailable?: 'refuse' | 'allow'
  /** Maximum milliseconds that a call waits for Tollgate before it is served or refused. Default: 2,000. */
  readonly timeoutMs?: number
  /** Returns your own page on which this customer buys, used instead of Tollgate's checkout. */
  readonly checkoutUrl?: (customerRef: string) => string | Promise<string>
  /** Whether repeated calls with the client's own `Idempotency-Key` count once. Default: true. */
  readonly honorsClientKeys?: boolean
  /** Maximum usage records in memory that wait for delivery. Default: 10,000. */
  readonly queueMax?: number
  /** Called with configuration errors, outages and lost records. Default: writes to standard error. */
  readonly onError?: (error: Error) => void
}

export type Settings = Required<Omit<PaywallOptions, 'checkoutUrl'>> &
  Pick<PaywallOptions, 'checkoutUrl'>

/** Throws a TypeError that names the option that is missing or out of range. */
export function readOptions(options: PaywallOptions): Settings {
  for (const name of ['secretKey', 'productRef', 'baseUrl'] as const) {
    if (typeof options[name] !== 'string' || options[name] === '') {
      throw new TypeError(`The paywall needs the option ${name}.`)
    }
  }
  if (!isWebAddress(options.baseUrl)) {
    throw new TypeError('The option baseUrl must be an http or https URL.')
  }
  const settings = {
    units: 1,
    admission: 'hold',
    holdSeconds: 60,
    onUnavailable: 'refuse',
    timeoutMs: 2_000,
    honorsClientKeys: true,
    queueMax: 10_000,
    onError: (error: Error) => console.error(error),
    ...withoutUndefined(options),
  } as Settings
  requireWhole('units', settings.units, 0, 100_000)
  requireWhole('holdSeconds', settings.holdSeconds, 1, 86_400)
  requireWhole('timeoutMs', settings.timeoutMs, 1, 60_000)
  requireWhole('queueMax', settings.queueMax, 1, 1_000_000)
  requireOneOf('admission', settings.admission, ['hold', 'check'])
  requireOneOf('onUnavailable', settings.onUnavailable, ['refuse', 'allow'])
  return { ...settings, onError: catchHandlerErrors(settings.onError) }
}

/** Catches errors of the error handler itself, so that they never reach a call. */
function catchHandlerErrors(onError: (error: Error) => void): (error: Error) => void {
  return (error) => {
    try {
      onError(error)
    } catch (fault) {
      console.error(fault)
    }
  }
}

export function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function requireWhole(name: string, value: unknown, min: number, max: number): void {
  if (!Number.isInteger(value) || Number(value) < min || Number(value) > max) {
    throw new TypeError(`The option ${name} must be a whole number from ${min} to ${max}.`)
  }
}

function requireOneOf(name: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) {
    throw new TypeError(`The option ${name} must be one of: ${allowed.join(', ')}.`)
  }
}

function isWebAddress(text: string): boolean {
  try {
    return /^https?:$/.test(new URL(text).protocol)
  } catch {
    return false
  }
}
