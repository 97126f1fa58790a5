import { setTimeout as sleep } from 'node:timers/promises'

export type Caller = {
  readonly name: number
  answered: number
  /** The last grant that was requested, whether or not it was answered. */
  lastGrant: Grant | undefined
}

type Grant = { readonly customer: string; readonly idempotencyKey: string }

/**
 * Repeatedly creates a customer, changes it and grants it credits, then creates a product and changes it, until the service no
 * longer answers.
 */
export async function changeUntilServerStops(
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
    // A TypeError means that fetch lost the connection. A refusal is an error of the test.
    if (!(error instanceof TypeError || error instanceof DoneBeforeError)) throw error
  }
}

/** Repeats the request of a grant with the same idempotency key. */
export async function repeatGrant(url: string, key: string, grant: Grant): Promise<void> {
  const path = `/v1/sdk/customers/${grant.customer}/credits`
  const response = await send(
    `${url}${path}`,
    requestOf(key, 'POST', { credits: 5 }, grant.idempotencyKey),
  )
  await response.json()
}

/** A request with status 503 had been executed nevertheless. */
class DoneBeforeError extends Error {
  override readonly name = 'DoneBeforeError'
}

const triesMax = 100
const pauseMs = 100

/**
 * Sends the request, and repeats it after status 503. PostgreSQL keeps the connections of a killed process for a moment, so it may
 * have none left for the next process, which then responds with 503. If the response to a commit was lost, the repeated request
 * conflicts and the caller stops.
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
