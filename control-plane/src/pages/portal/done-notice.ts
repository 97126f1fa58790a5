import type { FastifyRequest } from 'fastify'
import type { Notice } from '../notice.tsx'
import type { PlainKey } from '../texts/texts.ts'
import { portalOf } from './portal.ts'

/** Notices that a page shows after a change, by the value of `done` in its address. */
export type NoticeTable = Readonly<
  Record<string, { readonly tone: Notice['tone']; readonly text: PlainKey }>
>

/** Returns the notice for the `done` of the page's address, or undefined if the table does not contain it. */
export function doneNotice(request: FastifyRequest, table: NoticeTable): Notice | undefined {
  const { done } = request.query as { readonly done?: unknown }
  const found = typeof done === 'string' && Object.hasOwn(table, done) ? table[done] : undefined
  if (found === undefined) return undefined
  return { tone: found.tone, text: portalOf(request).frame.t(found.text) }
}
