/**
 * Whether PostgreSQL refuses the values themselves, and would whenever it is asked: data that it cannot represent, or that
 * break a rule or a limit. Everything else passes: a connection that broke, a lock, a full disk, a migration to come.
 */
export function isRefusal(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' && refusals.test(code)
}

const refusals = /^(22|23|54)...$/
