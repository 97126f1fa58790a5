/** Values for the commands. */
type FirstSteps = {
  /** Address without a trailing slash. */
  readonly baseUrl: string
  readonly sandboxKey: string
  readonly productRef: string
  readonly meterRef: string
  readonly customer: { readonly name: string; readonly reference: string }
  /** Remaining calls of the customer. Undefined if they could not be read. */
  readonly callsLeft: number | undefined
  readonly now: Date
}

export type Step = { readonly title: string; readonly note: string; readonly command: string }

/** Maximum number of units in one request. */
const unitsMax = 100_000
const dayMs = 86_400_000

const refused =
  'withinLimits is false, and checkoutUrl opens the checkout in a browser. ' +
  'Pay with card 4242 4242 4242 4242, and the limit check allows calls again.'

/**
 * Returns the commands that a fresh start prints and that its page at `/` shows. A test runs them through a shell, so they work
 * unchanged. They record usage that is counted and paid for, until the customer reaches the limit. A payment in the checkout then
 * allows calls again.
 */
export function firstSteps(given: FirstSteps): readonly Step[] {
  const { baseUrl, sandboxKey, productRef, meterRef, customer, callsLeft, now } = given
  const { name, reference: customerRef } = customer
  const key = `-H 'Authorization: Bearer ${sandboxKey}'`
  const post = (path: string, body: object): string =>
    `curl -s ${baseUrl}${path} ${key} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
  const record = (units: number): string =>
    post('/v1/sdk/usages', { customerRef, productRef, units })
  const rest = Math.min((callsLeft ?? 0) - 1, unitsMax)
  const days = new URLSearchParams({
    from: dayOf(now.getTime() - 29 * dayMs),
    to: dayOf(now.getTime() + dayMs),
    customerRef,
  })
  return [
    {
      title: 'Record a call',
      note: `Stored, and paid with credits of ${name}: the reply counts what is left.`,
      command: record(1),
    },
    {
      title: 'Check the limit before the next call',
      note:
        callsLeft === 0
          ? `No calls are left: ${refused}`
          : 'While calls are left, the reply says withinLimits: true.',
      command: post('/v1/sdk/limits', { customerRef, productRef, includeCheckoutSession: true }),
    },
    ...(rest > 0
      ? [
          {
            title: 'Use up the rest',
            note: `Then check the limit again: ${refused}`,
            command: record(rest),
          },
        ]
      : []),
    {
      title: 'Read the usage',
      note: 'Every record, from ClickHouse.',
      command: `curl -s '${baseUrl}/ui/meters/${meterRef}/usage?${days.toString()}' ${key}`,
    },
  ]
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/**
 * Returns the same commands for an installation whose keys visitors must not see. The reader fills in the provider's own values.
 */
export function generalSteps(baseUrl: string): readonly Step[] {
  const key = `-H "Authorization: Bearer $SECRET_KEY"`
  const body = `-H 'Content-Type: application/json' -d '{"customerRef":"user_1","productRef":"prd_…"`
  return [
    {
      title: 'Get a secret key of your provider',
      note: 'An owner of the provider or the operator of this installation issues it.',
      command: 'export SECRET_KEY=sk_sandbox_…',
    },
    {
      title: 'List your products',
      note: 'The reference of a product, prd_…, is in the reply.',
      command: `curl -s ${baseUrl}/v1/sdk/products ${key}`,
    },
    {
      title: 'Record a call',
      note: 'A reply of 200 means that the record is on disk.',
      command: `curl -s ${baseUrl}/v1/sdk/usages ${key} ${body},"units":1}'`,
    },
    {
      title: 'Check the limit before the next call',
      note: 'The reply says whether the plan of the customer allows the call.',
      command: `curl -s ${baseUrl}/v1/sdk/limits ${key} ${body}}'`,
    },
  ]
}
