import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callProcessor } from './at-processor.ts'
import { offeredCards } from '../src/objects/offered-cards.ts'
import { openSimulator, type SimulatorUnderTest } from './simulator-under-test.ts'

/* The test cards on the card page. Each must behave as described at https://docs.stripe.com/testing. */

let opened: SimulatorUnderTest
let customerId: string

beforeAll(async () => {
  opened = await openSimulator()
  customerId = (await request<{ id: string }>('POST', 'customers', {})).id
})
afterAll(() => opened.close())

type Intent = {
  readonly id: string
  readonly client_secret: string
  readonly status: string
  readonly latest_charge: string | null
  readonly last_payment_error: { readonly code: string; readonly decline_code?: string } | null
  readonly last_setup_error: { readonly code: string } | null
}
type Kind = 'payment_intents' | 'setup_intents'

async function request<Answer>(
  method: 'GET' | 'POST',
  path: string,
  fields?: object,
): Promise<Answer> {
  const { body } = await callProcessor(
    opened.simulator.url,
    method,
    path,
    fields as Record<string, string> | undefined,
  )
  return body as Answer
}

/** Chooses the card on the page of a new intent, submits the filled form, and answers the bank if it asks. */
async function useCard(kind: Kind, name: string): Promise<Intent> {
  const created = await request<Intent>('POST', kind, {
    customer: customerId,
    ...(kind === 'payment_intents' && { amount: '10000', currency: 'usd' }),
  })
  const { id, client_secret } = created
  const url = `${opened.simulator.url}/_simulator/card/${id}`
  const start = await fetch(`${url}?client_secret=${client_secret}`)
  const link = linkOf(await start.text(), name)
  const chosen = await (await fetch(new URL(link, url))).text()
  const submitted = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams(fieldsOf(chosen)),
    redirect: 'manual',
  })
  const bank = submitted.headers.get('location')
  expect(bank !== null).toBe(name === '3-D Secure')
  if (bank !== null) {
    expect(bank).toContain('/_simulator/3ds/')
    const body = new URLSearchParams({ client_secret, answer: 'accept' })
    await fetch(new URL(bank, url), { method: 'POST', body })
  }
  return request<Intent>('GET', `${kind}/${id}`)
}

function linkOf(html: string, name: string): string {
  const [, link] = new RegExp(`<a href="([^"]+)"[^>]*>\\s*<span class="name">${name}<`).exec(html)!
  return link!.replaceAll('&amp;', '&')
}

function fieldsOf(html: string): Record<string, string> {
  const inputs = [...html.matchAll(/<input [^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)]
  return Object.fromEntries(inputs.map(([, name, value]) => [name!, value!]))
}

const declinedCards: Readonly<Record<string, object>> = {
  Declined: { code: 'card_declined', decline_code: 'generic_decline' },
  'Insufficient funds': { code: 'card_declined', decline_code: 'insufficient_funds' },
  Expired: { code: 'expired_card' },
  'Declined once saved': { code: 'card_declined', decline_code: 'generic_decline' },
}

describe.each(offeredCards.map(({ name }) => name))('%s', (name) => {
  test('pays, or is declined with the documented error', async () => {
    const intent = await useCard('payment_intents', name)
    const error = declinedCards[name]
    expect(intent).toMatchObject(
      error === undefined
        ? { status: 'succeeded', last_payment_error: null }
        : { status: 'requires_payment_method', last_payment_error: error },
    )
  })

  test('is saved, or refused with the documented error', async () => {
    const intent = await useCard('setup_intents', name)
    const error = name === 'Declined once saved' ? undefined : declinedCards[name]
    expect(intent).toMatchObject(
      error === undefined
        ? { status: 'succeeded', last_setup_error: null }
        : { status: 'requires_payment_method', last_setup_error: error },
    )
  })
})

test('charges nothing if the customer refuses the 3-D Secure authentication', async () => {
  const { id, client_secret } = await request<Intent>('POST', 'payment_intents', {
    amount: '10000',
    currency: 'usd',
    confirm: 'true',
    payment_method: 'pm_card_authenticationRequired',
    return_url: 'http://127.0.0.1/back',
  })
  await fetch(`${opened.simulator.url}/_simulator/3ds/${id}`, {
    method: 'POST',
    body: new URLSearchParams({ client_secret, answer: 'refuse' }),
    redirect: 'manual',
  })
  expect(await request<Intent>('GET', `payment_intents/${id}`)).toMatchObject({
    status: 'requires_payment_method',
    last_payment_error: { code: 'payment_intent_authentication_failure' },
  })
})

test('disputes each charge of the disputed card as fraudulent at once, and no other charge', async () => {
  const { latest_charge } = await useCard('payment_intents', 'Disputed')
  await useCard('payment_intents', 'Succeeds')
  const { data } = await request<{ data: { charge: string }[] }>('GET', 'disputes?limit=100')
  const own = data.filter(({ charge }) => charge === latest_charge)
  expect(own).toMatchObject([{ reason: 'fraudulent', status: 'needs_response', amount: 10_000 }])
  const others = await Promise.all(
    data.map(({ charge }) =>
      request<{ payment_method_details: { card: { last4: string } } }>('GET', `charges/${charge}`),
    ),
  )
  const digits = others.map(({ payment_method_details: { card } }) => card.last4)
  expect(new Set(digits)).toEqual(new Set(['0259']))
})

test('fails a succeeded refund to the last card after 5 seconds', async () => {
  const { id } = await useCard('payment_intents', 'Refund fails')
  const refund = await request<{ id: string }>('POST', 'refunds', { payment_intent: id })
  expect(refund).toMatchObject({ status: 'succeeded' })
  await opened.admin('clock', { advanceSeconds: 5 })
  expect(await request('GET', `refunds/${refund.id}`)).toMatchObject({ status: 'failed' })
})

test('keeps a declined card and the other input in the form', async () => {
  const { id, client_secret } = await request<Intent>('POST', 'setup_intents', {})
  const url = `${opened.simulator.url}/_simulator/card/${id}`
  const typed = { number: '4000 0000 0000 9995', exp_month: '7', exp_year: '2041', cvc: '987' }
  const body = new URLSearchParams({ ...typed, client_secret })
  const answer = await fetch(url, { method: 'POST', body })
  const html = await answer.text()
  expect(answer.status).toBe(402)
  expect(html).toContain('Your card has insufficient funds.')
  expect(fieldsOf(html)).toMatchObject(typed)
  expect(html.match(/aria-current="true">\s*<span class="name">([^<]+)/)?.[1]).toBe(
    'Insufficient funds',
  )
})

test.each(['docs/hosted-pages.md'])('%s lists the same cards', async (path) => {
  const text = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| ([^|]+?) +\| `([\d ]{19})` +\| ([^|]+?) +\|$/gm)]
  const listed = rows.map(([, name, number, effect]) => ({ name, number, effect }))
  expect(listed).toEqual(offeredCards)
})
