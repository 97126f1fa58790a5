type Send = (path: string, body: unknown) => Promise<unknown>

/** Returns requests that create links for a customer, or clients that act for one. */
export function customerAuthCalls(
  refs: Readonly<Record<string, string>>,
  send: Send,
): Record<string, (path: string) => Promise<unknown>> {
  const named = () => ({ customerRef: refs['reference'], productRef: refs['mcpProductRef'] })
  return {
    'POST /v1/customer/auth/links': (path) => send(path, { ...named(), purpose: 'portal' }),
    'POST /v1/customer/auth/clients': (path) => send(path, { ...named(), name: 'Agent' }),
  }
}
