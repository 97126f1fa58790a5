import { expect } from 'vitest'
import { formTokenOf } from '../../../control-plane/src/pages/cookies.ts'
import type { TestStack } from '../../../control-plane/test/test-stack.ts'

/** Opens a checkout link like a browser. Returns a function that submits one of its forms and returns the redirect. */
export async function openCheckout(stack: Pick<TestStack, 'fetch'>, sessionId: string) {
  const link = `/customer/checkout?id=${sessionId}`
  const { headers } = await stack.fetch(link, { redirect: 'manual' })
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  const at = headers.get('location') ?? ''
  return async (how: string, plan: string): Promise<string> => {
    const body = new URLSearchParams({ formToken: formTokenOf(sessionId), plan })
    const init = { method: 'POST', body, headers: { cookie }, redirect: 'manual' } as const
    const answer = await stack.fetch(`${at}/${how}`, init)
    expect(answer.status).toBe(303)
    return answer.headers.get('location') ?? ''
  }
}
