/** An object of the simulator, read over its API. */
type ProcessorPayment = {
  readonly id: string
  readonly status: string
  readonly amount: number
  readonly latest_charge: string | null
  readonly metadata: Readonly<Record<string, string>>
}
type ProcessorCharge = {
  readonly id: string
  readonly status: string
  readonly amount: number
  readonly amount_refunded: number
  readonly payment_intent: string
  readonly disputed: boolean
}
type ProcessorRefund = {
  readonly id: string
  readonly status: string
  readonly amount: number
  readonly payment_intent: string
  readonly metadata: Readonly<Record<string, string>>
}
type ProcessorDispute = {
  readonly id: string
  readonly status: string
  readonly amount: number
  readonly charge: string
  readonly payment_intent: string
}

type Lists = {
  readonly payment_intents: ProcessorPayment
  readonly charges: ProcessorCharge
  readonly refunds: ProcessorRefund
  readonly disputes: ProcessorDispute
}

export type ProcessorState = {
  readonly [Name in keyof Lists]: readonly Lists[Name][]
}

const names = ['payment_intents', 'charges', 'refunds', 'disputes'] as const

export async function readProcessor(url: string): Promise<ProcessorState> {
  const lists = await Promise.all(names.map(async (name) => [name, await listAll(url, name)]))
  return Object.fromEntries(lists) as ProcessorState
}

async function listAll(url: string, name: string): Promise<{ readonly id: string }[]> {
  const all: { readonly id: string }[] = []
  for (;;) {
    const last = all.at(-1)
    const after = last === undefined ? '' : `&starting_after=${last.id}`
    const page = (await callProcessor(url, 'GET', `${name}?limit=100${after}`)).body as {
      readonly data: { readonly id: string }[]
      readonly has_more: boolean
    }
    all.push(...page.data)
    if (!page.has_more) return all
  }
}

const timeoutMs = 2_000

/** Calls the API like a browser or a user of the processor's dashboard. Throws if there is no answer. */
export async function callProcessor(
  url: string,
  method: 'GET' | 'POST',
  path: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<{ readonly isDone: boolean; readonly body: object }> {
  const answer = await fetch(`${url}/v1/${path}`, {
    method,
    headers: { authorization: 'Bearer sk_test_1' },
    signal: AbortSignal.timeout(timeoutMs),
    ...(method === 'POST' ? { body: new URLSearchParams(fields) } : {}),
  })
  return { isDone: answer.ok, body: (await answer.json()) as object }
}

/** Returns the balance in US cents, whether available or pending. */
export async function readBalance(url: string): Promise<number> {
  const { body } = await callProcessor(url, 'GET', 'balance')
  type Part = { readonly amount: number; readonly currency: string }
  const { available, pending } = body as { available: readonly Part[]; pending: readonly Part[] }
  return [...available, ...pending]
    .filter(({ currency }) => currency === 'usd')
    .reduce((sum, { amount }) => sum + amount, 0)
}
