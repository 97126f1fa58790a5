type Send = (path: string, body: unknown, method?: string) => Promise<Record<string, string>>

const schedules = '/v1/ui/customers/:reference/credit-schedules'

/** Returns a request for each route that changes credits and their schedules. */
export function creditCalls(
  refs: Record<string, string>,
  send: Send,
): Record<string, (path: string) => Promise<unknown>> {
  return {
    'POST /v1/sdk/customers/:reference/credits': (path) => send(path, { credits: 100 }),
    'POST /v1/ui/customers/:reference/credits/adjustments': (path) =>
      send(path, { amount: -40, reason: 'a mistake' }),
    [`POST ${schedules}`]: async (path) => {
      const schedule = { credits: 100, every: { unit: 'month', count: 1 } }
      refs['scheduleRef'] = (await send(path, schedule))['reference']!
    },
    [`PATCH ${schedules}/:scheduleRef`]: (path) => send(path, { credits: 200 }, 'PATCH'),
    [`POST ${schedules}/:scheduleRef/pause`]: (path) => send(path, {}),
    [`POST ${schedules}/:scheduleRef/resume`]: (path) => send(path, {}),
    [`POST ${schedules}/:scheduleRef/end`]: (path) => send(path, {}),
  }
}
