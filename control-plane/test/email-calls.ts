import type { Database } from '@tollgate/platform/database/database'

type Send = (path: string, body: unknown, method?: string) => Promise<Record<string, string>>

/** Returns a request for each route that changes something about emails. Earlier requests create what later ones need. */
export function emailCalls(
  refs: Record<string, string>,
  send: Send,
  pool: () => ReturnType<Database['in']>,
): Record<string, (path: string) => Promise<unknown>> {
  refs['emailId'] = 'eml_1'
  return {
    'PATCH /v1/ui/email-settings': (path) => send(path, { kinds: ['receipt'] }, 'PATCH'),
    'POST /v1/ui/emails/:emailId/resend': async (path) => {
      await pool()`
        insert into emails
          (provider_id, reference, event_id, kind, state, due_at, finished_at, created_at)
        select provider_id, ${refs['emailId']!}, 'evt_1', 'receipt', 'unknown', now(), now(), now()
        from email_settings limit 1`
      await send(path, {})
    },
    'POST /v1/ui/email-suppressions': async (path) => {
      refs['suppressionId'] = (await send(path, { email: 'bounced@example.com' }))['id']!
    },
    'DELETE /v1/ui/email-suppressions/:suppressionId': (path) => send(path, undefined, 'DELETE'),
  }
}
