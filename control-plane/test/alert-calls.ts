type Send = (path: string, body: unknown, method?: string) => Promise<Record<string, string>>

/** Returns a request for each route that changes an alert. Earlier requests create what later ones need. */
export function alertCalls(
  refs: Record<string, string>,
  send: Send,
): Record<string, (path: string) => Promise<unknown>> {
  return {
    'POST /v1/ui/alerts': async (path) => {
      const alert = { watches: 'limit', thresholds: [{ percent: 80 }] }
      refs['alertRef'] = (await send(path, alert))['reference']!
    },
    'PATCH /v1/ui/alerts/:alertRef': (path) => send(path, { thresholds: [] }, 'PATCH'),
    'DELETE /v1/ui/alerts/:alertRef': (path) => send(path, undefined, 'DELETE'),
  }
}
