import { describe, expect, test } from 'vitest'
import type { ClientCapabilities, GatedCall } from './gate.ts'
import { adviseFor, decidePaywall, gateOf, paywallMessage } from './paywall.ts'
import { paywallAnswer } from './paywall-answer.ts'

const url = 'https://hosted.test/customer/connect/1'
const paywall = { kind: 'payment_required', recovery: 'upgrade', fact: 'Pay first' } as const
const answer = { withinLimits: false, remaining: 0, plan: '' }
const gate = gateOf(paywall, url, 'prd_1', answer)
const message = `Pay first. Use the tool \`upgrade\` to choose a plan, or open ${url}`

function callOf(client: Partial<ClientCapabilities>, changes: Partial<GatedCall> = {}): GatedCall {
  return {
    server: undefined as never,
    ...{ customerRef: 'cus_1', toolName: 'search', callId: 'call_1' },
    clientKey: undefined,
    client: { era: 'sessions', opensUrls: false, showsApps: false, ...client },
    ...changes,
  }
}

describe('a paywall', () => {
  const text = {
    content: [{ type: 'text', text: message }],
    structuredContent: gate,
    isError: false,
  }

  test('is text with structured content if the client opens no URLs', () => {
    expect(paywallAnswer(callOf({}), gate)).toEqual({ kind: 'result', result: text })
    expect(paywallAnswer(callOf({ era: 'stateless' }), gate)).toEqual({
      kind: 'result',
      result: { resultType: 'complete', ...text },
    })
  })

  test.each([
    [true, 'activate_plan', 'upgrade'],
    [true, 'topup', 'topup'],
    [false, 'activate_plan', 'activate_plan'],
  ] as const)(
    'names a listed tool if the client shows views (%s): %s becomes %s',
    (showsApps, recovery, advised) => {
      expect(adviseFor({ showsApps }, { ...paywall, recovery }).recovery).toBe(advised)
    },
  )

  test('is an error with the URL to open for clients with sessions', () => {
    expect(paywallAnswer(callOf({ opensUrls: true }), gate)).toEqual({
      ...{ kind: 'error', code: -32042, message },
      data: { elicitations: [{ mode: 'url', elicitationId: 'call_1', url, message }] },
    })
  })

  test('is a question to stateless clients, once per call', () => {
    const client = { era: 'stateless', opensUrls: true } as const
    expect(paywallAnswer(callOf(client), gate)).toEqual({
      kind: 'input_required',
      result: {
        resultType: 'input_required',
        inputRequests: {
          'tollgate-paywall': {
            method: 'elicitation/create',
            params: { mode: 'url', message, url },
          },
        },
      },
    })
    for (const paywallAnswered of ['accept', 'decline', 'cancel'] as const) {
      expect(paywallAnswer(callOf(client, { paywallAnswered }), gate).kind).toBe('result')
    }
  })

  test('is text if no link could be created', () => {
    const without = gateOf(paywall, '', 'prd_1', answer)
    expect(paywallAnswer(callOf({ opensUrls: true }), without).kind).toBe('result')
  })
})

describe('offers one recovery tool:', () => {
  const product = { reference: 'prd_1', name: 'Reports' }
  const plan = { reference: 'pln_1', price: 1, currency: 'USD', requiresPayment: true }
  const credits = { creditBalance: 0, creditsPerUnit: 1, currency: 'USD' }
  const limit = { reason: 'limit' } as const
  test.each([
    ['activate_plan', 'activation_required', { activationRequired: true, product }],
    ['upgrade', 'payment_required', { product }],
    ['upgrade', 'payment_required', { product, plan: 'pln_1' }],
    [
      'topup',
      'payment_required',
      { product, balance: credits, plans: [{ ...plan, type: 'recurring' }] },
    ],
    [
      'topup',
      'activation_required',
      { product, balance: credits, plans: [{ ...plan, type: 'hybrid' }] },
    ],
    // A balance of less than 1 unit is not empty: clients show the text of an upgrade in this case.
    ['upgrade', 'payment_required', { product, balance: { ...credits, creditBalance: 5 } }],
  ])('%s for %s', (recovery, kind, changes) => {
    const decided = decidePaywall(limit, { ...answer, ...changes })
    expect(decided).toMatchObject({ recovery, kind })
    expect(paywallMessage(decided, url)).toContain(`\`${recovery}\``)
    expect(decided.fact).toContain('Reports')
  })
})
