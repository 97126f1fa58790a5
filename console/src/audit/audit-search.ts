import { textOf } from '../parts/list-search.ts'

/** The query of the audit log's address. Only entries before the cursor are shown. */
export type AuditSearch = {
  readonly before?: string
  readonly actor?: string
  readonly reference?: string
}

export function auditSearch(given: Record<string, unknown>): AuditSearch {
  const names = ['before', 'actor', 'reference'] as const
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = textOf(given, name)
      return text === undefined ? [] : [[name, text]]
    }),
  )
}
