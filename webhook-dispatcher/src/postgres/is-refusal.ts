/**
 * Returns whether PostgreSQL refused the values of a statement, so that a retry cannot succeed: classes 22 (data exception), 23
 * (constraint violation) and 54 (limit exceeded). All other errors are temporary: a lost connection, a lock, a full disk, a pending
 * migration.
 */
export function isRefusal(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' && refusals.test(code)
}

const refusals = /^(22|23|54)...$/
