type Send = (path: string, body: unknown, method?: string) => Promise<Record<string, string>>

const clock = '/v1/ui/test-clocks/:testClockRef'

/** Returns a request for each route that changes test clocks. Nothing advances the clock here, so it stays advancing until a pause. */
export function testClockCalls(
  refs: Record<string, string>,
  send: Send,
): Record<string, (path: string) => Promise<unknown>> {
  const day = (ahead: number): string => new Date(Date.now() + ahead * 86_400_000).toISOString()
  return {
    'POST /v1/ui/test-clocks': async (path) => {
      refs['testClockRef'] = (await send(path, { frozenTime: day(40) }))['reference']!
    },
    [`POST ${clock}/advance`]: (path) => send(path, { to: day(41) }),
    [`POST ${clock}/pause`]: (path) => send(path, {}),
    [`POST ${clock}/resume`]: (path) => send(path, {}),
    [`DELETE ${clock}`]: async (path) => {
      await send(`${path}/pause`, {})
      await send(path, undefined, 'DELETE')
    },
  }
}
