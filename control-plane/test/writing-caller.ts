import { setTimeout as sleep } from 'node:timers/promises'

export type Caller = {
  readonly name: number
  answered: number
  /** Answered or not. */
  lastGrant: Grant | undefined
}

type Grant = { readonly customer: string; readonly idempotencyKey: string }

/** Makes a customer, changes it and gives it credits, makes a product and changes it, then the next. */
export async function changeUntilNobodyAnswers(
  url: string,
  key: string,
  caller: Caller,
  onAnswer: () => void,
): Promise<void> {
  const call = async (method: string, path: string, body: object): Promise<string> => {
    const response = await send(`${url}${path}`, requestOf(key, method, body))
    caller.answered += 1
    onAnswer()
    return ((await response.json()) as { readonly reference: string }).reference
  }
  try {
    for (let round = 0; ; round += 1) {
      const name = `${caller.name} ${round}`
      const email = `${caller.name}.${round}@example.com`
      const customer = await call('POST', '/v1/sdk/customers', { email, name })
      await call('PATCH', `/v1/sdk/customers/${customer}`, { name: `${name} anew` })
      caller.lastGrant = { customer, idempotencyKey: `grant ${name}` }
      await repeatGrant(url, key, caller.lastGrant)
      caller.answered += 1
      onAnswer()
      const product = await call('POST', '/v1/sdk/products', { name })
      await call('PUT', `/v1/sdk/products/${product}`, { name: `${name} anew` })
    }
  } catch (error) {
    // What fetch throws when the other side is gone; a refusal is a fault.
    if (!(error instanceof TypeError || error instanceof DoneBeforeError)) throw error
  }
}

/** As it was asked before, if it was. */
export async function repeatGrant(url: string, key: string, grant: Grant): Promise<void> {
  const path = `/v1/sdk/customers/${grant.customer}/credits`
  const response = await send(
    `${url}${path}`,
    requestOf(key, 'POST', { credits: 5 }, grant.idempotencyKey),
  )
  await response.json()
}

/** A call that was answered 503 had been done all the same. */
class DoneBeforeError extends Error {
  override readonly name = 'DoneBeforeError'
}

const triesMax = 100
const pauseMs = 100

/**
 * PostgreSQL keeps the connections of who was killed for a moment, and may have none left for who comes next: that is
 * answered 503 and asked again. Where it was the answer to a commit that got lost, the caller goes no further.
 */
async function send(url: string, request: RequestInit): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(url, request)
    if (response.ok) return response
    const refusal = `${request.method} ${url}: ${response.status} ${await response.text()}`
    if (response.status === 409 && tries > 1) throw new DoneBeforeError(refusal)
    if (response.status !== 503 || tries >= triesMax) throw new Error(refusal)
    await sleep(pauseMs)
  }
}

function requestOf(
  key: string,
  method: string,
  body: object,
  idempotencyKey?: string,
): RequestInit {
  return {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    body: JSON.stringify(body),
  }
}
