type Make = (path: string, body: unknown) => Promise<unknown>

/** Returns requests that create links for a customer, or clients that act for one. */
export function customerAuthCalls(
  refs: Readonly<Record<string, string>>,
  make: Make,
): Record<string, (path: string) => Promise<unknown>> {
  const named = () => ({ customerRef: refs['reference'], productRef: refs['mcpProductRef'] })
  return {
    'POST /v1/customer/auth/links': (path) => make(path, { ...named(), purpose: 'portal' }),
    'POST /v1/customer/auth/clients': (path) => make(path, { ...named(), name: 'Agent' }),
  }
}
